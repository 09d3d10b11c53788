// Measures how often streaming intervals for the population parameter hold it: sandwich intervals of a linear stream,
// d = 3, with a variance that depends on the features, at ρ = 1 of which .1 is for the interval; and batch means
// beside them. Usage: interval_coverage [STREAMS [JSON file]]; 1,000 streams by default. Exits with 1 where the
// coverage of the sandwich intervals at nominal .95 is outside .93–.97 by more than three standard errors of the
// count, or where a stream has no such interval. Keys and data are fixed, so the result does not vary by chance.
#include <array>
#include <cmath>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "nustream/inference/interval.h"
#include "nustream/inference/sandwich.h"
#include "private_path.h"

namespace {

using namespace nustream;
using namespace nustream::benchmarks;

constexpr std::size_t d = 3;
constexpr std::size_t records = 100'000;
constexpr std::uint64_t from = 20'000;
constexpr double level = 0.95;
constexpr double step_size = 0.01;
constexpr std::array<double, d> truth{0.5, -0.3, 0.2};

lane::Settings settings() {
  return {.dimension = d,
          .loss = {},
          .l2 = 0,
          .clip = ClipNorm{12.0},
          .schedule = descent::Schedule{descent::Constant{StepSize{step_size}}},
          .projection = {},
          .averaging = {descent::Averaging::Kind::tail, from, 0.5},
          .minibatch = 1,
          .release_every = records,
          .start = std::vector<double>(d, 0.0),
          .first_stage = {},
          .batching = descent::Batching{from, 16, 64},
          .moments = lane::SecondMoments{ClipNorm{16.0}, ClipNorm{120.0}, from}};
}

/// Independent standard normal numbers from a numbered key.
class Normals {
 public:
  Normals(std::size_t width, std::uint64_t key)
      : source_(noise::Correlation{noise::Independent{}}, noise::GeneratorKind::automatic, width,
                noise::first_checkpoint(numbered_key(key), {LaneId{7}, EpochId{0}, 0}), StepIndex{0}) {}
  noise::CorrelatedBlock next() { return source_.next(); }

 private:
  noise::NoiseSource source_;
};

/// Rows x ~ N(0, I), y = xᵀθ* + s(x) ε with s² = ½(1 + x_1²).
record::RowBatch stream(std::uint64_t number) {
  record::RowBatch rows;
  rows.dimension = d;
  Normals normals(d + 1, 2 * number + 1);
  while (rows.count() < records) {
    const noise::CorrelatedBlock block = normals.next();
    for (std::size_t i = 0; i < block.steps && rows.count() < records; ++i) {
      const auto draw = block.z.subspan(i * (d + 1), d + 1);
      double y = std::sqrt(0.5 * (1 + draw[0] * draw[0])) * draw[d];
      for (std::size_t j = 0; j < d; ++j) {
        rows.x.push_back(draw[j]);
        y += truth[j] * draw[j];
      }
      rows.y.push_back(y);
      rows.next.push_back(rows.count() + 1);
    }
  }
  return rows;
}

struct Stage {
  noise::NoiseSource source;
  noise::Grid grid;
  NoiseStddev stddev;
  std::size_t dimension;
};

std::vector<Stage> noise_stages(const lane::Settings& settings, const noise::Correlation& correlation,
                                std::uint64_t number) {
  const auto once = privacy::Participation::once();
  const double rho[] = {0.9, 0.05, 0.05};
  std::vector<Stage> stages;
  for (const lane::Stage& stage : lane::stages(settings)) {
    const auto at = static_cast<std::uint32_t>(stages.size());
    const NoiseStddev stddev =
        noise_stddev(privacy::multiplier_for(privacy::sensitivity_limit(correlation, once), Rho{rho[at]}),
                     privacy::displacement(stage.clip, privacy::Adjacency::zero_out));
    stages.push_back(
        {noise::NoiseSource(correlation, noise::GeneratorKind::automatic, stage.dimension,
                            noise::first_checkpoint(numbered_key(2 * number), {LaneId{0}, EpochId{0}, at}),
                            StepIndex{0}),
         noise::Grid(stddev, noise::largest_stddev(correlation), stage.clip), stddev, stage.dimension});
  }
  return stages;
}

/// The z of all steps on the stage's grid.
std::vector<std::int64_t> all_units(Stage& stage) {
  std::vector<std::int64_t> units;
  while (units.size() < records * stage.dimension) {
    const noise::CorrelatedBlock block = stage.source.next();
    const std::size_t before = units.size();
    units.resize(before + block.z.size());
    stage.grid.round_noise(block.z, std::span(units).subspan(before));
  }
  return units;
}

struct Tally {
  std::uint64_t intervals = 0;
  std::uint64_t held = 0;
  std::uint64_t silent = 0;  // streams without an interval, as noise hid the moments
  double width = 0;

  void add(const inference::Interval& interval, double value) {
    ++intervals;
    if (interval.lower() <= value && value <= interval.upper()) ++held;
    width += 2 * interval.half_width;
  }
  [[nodiscard]] double coverage() const { return static_cast<double>(held) / static_cast<double>(intervals); }
  [[nodiscard]] double error() const {
    return std::sqrt(coverage() * (1 - coverage()) / static_cast<double>(intervals));
  }
  [[nodiscard]] std::string json() const {
    return fmt::format(
        "{{\"coverage\": {:.4f}, \"standard_error\": {:.4f}, \"mean_width\": {:.6f}, \"intervals\": {}, \"silent\": "
        "{}}}",
        coverage(), error(), width / static_cast<double>(intervals), intervals, silent);
  }
};

void run(std::uint64_t number, Tally& sandwich, Tally& batches) {
  const lane::Settings settings_of_run = settings();
  const noise::Correlation correlation{noise::Rational::nu_ftrl(Damping{0.002})};
  const record::RowBatch rows = stream(number);
  std::vector<Stage> stages = noise_stages(settings_of_run, correlation, number);
  std::vector<noise::Grid> grids;
  std::vector<std::vector<std::int64_t>> units;
  for (Stage& stage : stages) {
    grids.push_back(stage.grid);
    units.push_back(all_units(stage));
  }
  std::vector<noise::GridNoise> noise;
  for (std::size_t i = 0; i < stages.size(); ++i) noise.push_back({StepIndex{0}, stages[i].dimension, units[i]});
  lane::Lane lane(settings_of_run, grids, Position{0});
  lane::Releases releases;
  lane.advance(record::slice(rows, 0, records), noise, releases);

  const lane::Release last = releases[0];
  std::vector<double> each(d * d, 0.0);
  for (std::size_t j = 0; j < d; ++j) each[j * d + j] = 1;
  const auto variances = inference::average_variances(
      descent::symmetric_matrix(last.bread, d), descent::symmetric_matrix(last.meat, d),
      {correlation, stages[0].stddev, StepSize{step_size}, 0, 1, from, stages[1].stddev, stages[2].stddev},
      last.steps, each);
  if (!variances) {
    ++sandwich.silent;
  } else {
    for (std::size_t j = 0; j < d; ++j) {
      const auto& [variance, freedom] = (*variances)[j];
      sandwich.add({last.average[j], inference::student_quantile(freedom, level) * std::sqrt(variance)}, truth[j]);
    }
  }
  for (std::size_t j = 0; j < d; ++j) {
    std::vector<double> means;
    for (std::size_t i = 0; i < last.batch_means.size() / d; ++i) means.push_back(last.batch_means[i * d + j]);
    batches.add(*inference::t_interval(means, level), truth[j]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t streams = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000;
  Tally sandwich;
  Tally batches;
  for (std::uint64_t number = 1; number <= streams; ++number) run(number, sandwich, batches);
  std::FILE* out = argc > 2 ? std::fopen(argv[2], "w") : stdout;
  if (out == nullptr) return 74;
  fmt::print(
      out,
      "{{\"figure\": \"coverage of streaming intervals\", \"streams\": {}, \"records\": {}, \"dimension\": {}, "
      "\"rho\": 1, \"rho_of_the_interval\": 0.1, \"nominal\": {},\n  \"sandwich\": {},\n  \"batch_means\": {}}}\n",
      streams, records, d, level, sandwich.json(), batches.json());
  const double slack = 3 * sandwich.error();
  return sandwich.coverage() >= 0.93 - slack && sandwich.coverage() <= 0.97 + slack && sandwich.silent == 0 ? 0 : 1;
}
