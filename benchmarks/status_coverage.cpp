// Measures whether the status of a descent is honest: over 40 kinds of streams, how often each verdict is given, and
// how often the intervals that are shown hold the answer. d = 3, 100,000 records, batch means from step 20,000 on,
// level .95. Usage: status_coverage [STREAMS OF EACH KIND [JSON file]], 200 by default.
//
// Exits with 1 where intervals are shown in a tenth of a kind's streams or more, and hold the answer less often than
// .93 or more often than .97 by more than three standard errors. Keys and data are fixed, so the result does not vary
// by chance.
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "nustream/inference/long_run.h"
#include "nustream/inference/path_status.h"
#include "nustream/noise/rational.h"
#include "private_path.h"

namespace {

using namespace nustream;
using namespace nustream::benchmarks;

constexpr std::size_t d = 3;
constexpr std::uint64_t records = 100'000;
constexpr std::uint64_t from = 20'000;
constexpr double level = 0.95;
/// The frequencies and false alarms of the tests were chosen on lower keys; the keys from here on were not looked at.
constexpr std::uint64_t first_key = 100'001;

enum class Tails { normal, student_3, contaminated };
enum class Moves { no, slowly, fast, jump };

struct Kind {
  double correlation;  ///< correlation of any two features; the smallest eigenvalue is 1 minus it
  double step_size;
  double clip;
  double rho = 1;
  double nu = 1e-5;
  Tails tails = Tails::normal;
  Moves moves = Moves::no;
  double start = 0;  ///< value of every coefficient
};

std::vector<Kind> kinds() {
  std::vector<Kind> all;
  for (const double correlation : {0.0, 0.5, 0.86, 0.95}) {
    for (const double step_size : {0.01, 0.003}) {
      for (const double clip : {12.0, 2.5, 1.0}) all.push_back({correlation, step_size, clip});
    }
  }
  for (const double rho : {0.1, 0.01}) {
    for (const double nu : {1e-5, 0.002}) all.push_back({0.5, 0.01, 4, rho, nu});
  }
  for (const Tails tails : {Tails::student_3, Tails::contaminated}) {
    for (const double clip : {12.0, 2.5}) all.push_back({0.5, 0.01, clip, 1, 1e-5, tails});
  }
  for (const Moves moves : {Moves::slowly, Moves::fast, Moves::jump}) {
    all.push_back({0.5, 0.01, 12, 1, 1e-5, Tails::normal, moves});
  }
  for (const double step_size : {1e-3, 3e-4, 1e-4}) {
    all.push_back({0.5, step_size, 4, 1, 1e-5, Tails::normal, Moves::no, 3});
  }
  all.push_back({0.95, 0.001, 4, 1, 1e-5, Tails::normal, Moves::no, 0});
  all.push_back({0.86, 0.9, 1e4, 1e4, 1e-5});  // steps that jump beyond the minimum
  return all;
}

double noise_of(Tails tails, std::mt19937_64& engine) {
  std::normal_distribution<double> normal;
  if (tails == Tails::student_3) return std::student_t_distribution<double>(3)(engine) / std::sqrt(3.0);
  if (tails == Tails::contaminated) return normal(engine) * (engine() % 100 == 0 ? 8 : 0.6);
  return normal(engine);
}

/// The first coefficient at a record whose `time` goes from 0 to 1.
double moved(Moves moves, double time) {
  switch (moves) {
    case Moves::slowly:
      return 0.1 * time;
    case Moves::fast:
      return time;
    case Moves::jump:
      return time < 0.6 ? 0 : 0.5;
    default:
      return 0;
  }
}

constexpr std::array<double, d> answer{0.5, -0.3, 0.2};

record::RowBatch stream_of(const Kind& kind, std::uint64_t key) {
  std::mt19937_64 engine(key);
  std::normal_distribution<double> normal;
  record::RowBatch rows;
  rows.dimension = d;
  const double own = std::sqrt(1 - kind.correlation);
  const double common = std::sqrt(kind.correlation);
  for (std::uint64_t i = 0; i < records; ++i) {
    const double shared = common * normal(engine);
    double y = noise_of(kind.tails, engine);
    for (std::size_t j = 0; j < d; ++j) {
      const double x = shared + own * normal(engine);
      rows.x.push_back(x);
      const double drift = j == 0 ? moved(kind.moves, static_cast<double>(i) / records) : 0;
      y += (answer[j] + drift) * x;
    }
    rows.y.push_back(y);
    rows.next.push_back(i + 1);
  }
  return rows;
}

struct Tally {
  std::map<std::string, std::uint64_t> verdicts;
  std::uint64_t shown = 0, held = 0, plain = 0;
  double width = 0;
};

/// What the average should come to: the mean of the answers of its records.
double target(const Kind& kind, std::size_t j) {
  if (j != 0 || kind.moves == Moves::no) return answer[j];
  double sum = 0;
  for (std::uint64_t i = from; i < records; ++i) sum += moved(kind.moves, static_cast<double>(i) / records);
  return answer[j] + sum / static_cast<double>(records - from);
}

double run(const Kind& kind, std::uint64_t key, Tally& tally) {
  lane::Settings settings = plain_descent(d, kind.clip, kind.step_size);
  settings.averaging = {descent::Averaging::Kind::tail, from, 0.5};
  settings.batching = descent::Batching{from, 32, 64};
  settings.release_every = records;
  settings.start.assign(d, kind.start);
  const record::RowBatch rows = stream_of(kind, key);
  const noise::Correlation correlation{noise::Rational::nu_ftrl(Damping{kind.nu})};
  const NoiseStddev stddev = noise_stddev(
      privacy::multiplier_for(privacy::sensitivity_limit(correlation, privacy::Participation::once()), Rho{kind.rho}),
      privacy::displacement(settings.clip, privacy::Adjacency::zero_out));
  const noise::Grid grid(stddev, noise::largest_stddev(correlation), settings.clip);
  noise::NoiseSource source(correlation, noise::GeneratorKind::automatic, d,
                            noise::first_checkpoint(numbered_key(key), {LaneId{0}, EpochId{0}, 0}), StepIndex{0});
  std::vector<std::int64_t> units;
  while (units.size() < records * d) {
    const noise::CorrelatedBlock block = source.next();
    const std::size_t before = units.size();
    units.resize(before + block.z.size());
    grid.round_noise(block.z, std::span(units).subspan(before));
  }
  lane::Lane lane(settings, grid, Position{0});
  lane::Releases releases;
  lane.advance(record::slice(rows, 0, records), noise::GridNoise{StepIndex{0}, d, units}, releases);
  const lane::Release last = releases[0];
  const inference::PathStatus status = inference::path_status(last.batch_means, d);
  ++tally.verdicts[std::string(inference::name(status.verdict))];
  if (status.verdict == inference::Verdict::settled) {
    for (std::size_t j = 0; j < d; ++j) {
      std::vector<double> means;
      for (std::size_t i = 0; i < last.batch_means.size() / d; ++i) means.push_back(last.batch_means[i * d + j]);
      const inference::Interval interval = *inference::long_run_interval(means, level);
      const inference::Interval plain = *inference::t_interval(means, level);
      const double truth = target(kind, j);
      ++tally.shown;
      if (interval.lower() <= truth && truth <= interval.upper()) ++tally.held;
      if (plain.lower() <= truth && truth <= plain.upper()) ++tally.plain;
      tally.width += 2 * interval.half_width;
    }
  }
  return static_cast<double>(lane.clipped()) / records;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t streams = argc > 1 ? std::max<std::uint64_t>(1, std::strtoull(argv[1], nullptr, 10)) : 200;
  std::string rows;
  bool holds = true;
  for (const Kind& kind : kinds()) {
    Tally tally;
    double clipped = 0;
    for (std::uint64_t key = first_key; key < first_key + streams; ++key) clipped += run(kind, key, tally);
    const auto shown = static_cast<double>(tally.shown);
    const double coverage = shown > 0 ? static_cast<double>(tally.held) / shown : 0;
    const double error = shown > 0 ? std::sqrt(0.95 * 0.05 / shown) : 0;
    const double withheld = 1 - shown / static_cast<double>(streams * d);
    if (withheld <= 0.9 && std::abs(coverage - 0.95) > 0.02 + 3 * error) holds = false;
    std::string verdicts;
    for (const auto& [name, count] : tally.verdicts) {
      verdicts += fmt::format("{}\"{}\": {}", verdicts.empty() ? "" : ", ", name, count);
    }
    rows += fmt::format(
        "{}\n  {{\"correlation\": {}, \"step_size\": {}, \"clip\": {}, \"clipped\": {:.3f}, \"rho\": {}, \"nu\": {}, "
        "\"tails\": {}, \"moves\": {}, \"start\": {}, \"verdicts\": {{{}}}, \"coverage\": {}, \"plain_coverage\": "
        "{}, "
        "\"withheld\": {:.3f}, \"width\": {:.4f}}}",
        rows.empty() ? "" : ",", kind.correlation, kind.step_size, kind.clip, clipped / static_cast<double>(streams),
        kind.rho, kind.nu, static_cast<int>(kind.tails), static_cast<int>(kind.moves), kind.start, verdicts,
        shown > 0 ? fmt::format("{:.3f}", coverage) : "null",
        shown > 0 ? fmt::format("{:.3f}", static_cast<double>(tally.plain) / shown) : "null", withheld,
        shown > 0 ? tally.width / shown : 0);
    std::fprintf(stderr, "%s\n", rows.substr(rows.rfind("\n  {") + 1).c_str());
  }
  std::FILE* out = argc > 2 ? std::fopen(argv[2], "w") : stdout;
  if (out == nullptr) return 74;
  fmt::print(
      out,
      "{{\"figure\": \"verdicts and coverage of batch means\", \"streams\": {}, \"level\": {}, \"rows\": [{}]}}\n",
      streams, level, rows);
  return holds ? 0 : 1;
}
