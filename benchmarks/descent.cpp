// What one private step costs over a plain one: the lane with noise at hand beside textbook loops.
//
// Every case takes the same steps of linear regression on the same rows. "plain" and "clipped" are the loops that
// anyone would write, without noise and without a grid; "lane" is the product's path. Non-private comparators. "with
// its noise" draws the noise in the same thread, as a replay on one core does.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "harness.h"
#include "nustream/lane/lane.h"
#include "nustream/noise/source.h"

namespace {

using namespace nustream;

constexpr double step_size = 1e-4;
constexpr double clip_norm = 3.0;

struct Data {
  record::RowBatch rows;
  std::vector<std::int64_t> noise;
  std::vector<double> theta;
};

Data make_data(std::size_t dimension, std::size_t count) {
  std::mt19937_64 random(dimension);
  std::normal_distribution<double> normal;
  Data data;
  data.rows.dimension = dimension;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < dimension; ++j) data.rows.x.push_back(normal(random));
    data.rows.y.push_back(normal(random));
    data.rows.next.push_back(i + 1);
  }
  data.noise.resize(count * dimension);
  for (std::int64_t& unit : data.noise) unit = static_cast<std::int64_t>(normal(random) * 0x1p32);
  data.theta.assign(dimension, 0.0);
  return data;
}

void plain_steps(Data& data, bool clip) {
  const std::size_t d = data.theta.size();
  for (std::size_t i = 0; i < data.rows.count(); ++i) {
    const double* const x = data.rows.x.data() + i * d;
    const double slope = std::inner_product(x, x + d, data.theta.data(), 0.0) - data.rows.y[i];
    double factor = step_size * slope;
    if (clip) {
      const double norm = std::fabs(slope) * std::sqrt(std::inner_product(x, x + d, x, 0.0));
      factor *= std::min(1.0, clip_norm / norm);
    }
    for (std::size_t j = 0; j < d; ++j) data.theta[j] -= factor * x[j];
  }
  benchmarks::keep(data.theta.data());
}

struct Variation {
  std::string name;
  model::Loss::Kind loss = model::Loss::Kind::linear;
  std::uint64_t minibatch = 1;
  std::uint64_t release_every = 1'000'000'000;
  descent::Averaging averaging = {};
};

std::vector<Variation> variations(std::size_t dimension) {
  std::vector<Variation> all = {{.name = "lane"}};
  if (dimension != 10) return all;
  all.push_back({.name = "lane, tail average", .averaging = {descent::Averaging::Kind::tail, 0, 0.5}});
  all.push_back({.name = "lane, minibatches of 32", .minibatch = 32});
  all.push_back({.name = "lane, a release every step", .release_every = 1});
  all.push_back({.name = "lane, mean", .loss = model::Loss::Kind::mean});
  all.push_back({.name = "lane, huber", .loss = model::Loss::Kind::huber});
  all.push_back({.name = "lane, logistic", .loss = model::Loss::Kind::logistic});
  return all;
}

lane::Settings settings_of(std::size_t dimension, const Variation& variation) {
  return {.dimension = dimension,
          .loss = {variation.loss, 1.0},
          .clip = ClipNorm{clip_norm},
          .schedule = descent::Schedule{descent::Constant{StepSize{step_size}}},
          .projection = {},
          .averaging = variation.averaging,
          .minibatch = variation.minibatch,
          .release_every = variation.release_every,
          .start = std::vector<double>(dimension)};
}

benchmarks::Case lane_case(const std::string& suffix, const Variation& variation, const std::shared_ptr<Data>& data) {
  const std::size_t dimension = data->theta.size();
  const lane::Settings settings = settings_of(dimension, variation);
  const noise::Grid grid(NoiseStddev{1.0}, 1.0, settings.clip);
  auto lane = std::make_shared<lane::Lane>(settings, grid, Position{0});
  auto releases = std::make_shared<lane::Releases>();
  return {variation.name + suffix, static_cast<double>(data->rows.count()), [=] {
            releases->clear();
            lane->advance(slice(data->rows, 0, data->rows.count()),
                          {StepIndex{lane->steps().value()}, dimension, data->noise}, *releases);
            benchmarks::keep(lane->theta().data());
          }};
}

// The lane behind a generator of its own: keys, Gaussians, correlation, grid, step.
benchmarks::Case noisy_lane_case(const std::string& name, const noise::Correlation& correlation,
                                 const std::shared_ptr<Data>& data) {
  const std::size_t dimension = data->theta.size();
  const lane::Settings settings = settings_of(dimension, {.name = name});
  const noise::Grid grid(NoiseStddev{1.0}, noise::largest_stddev(correlation), settings.clip);
  auto lane = std::make_shared<lane::Lane>(settings, grid, Position{0});
  const noise::Stage stage{LaneId{0}, EpochId{0}, 0};
  const auto source =
      std::make_shared<noise::NoiseSource>(correlation, noise::GeneratorKind::automatic, dimension,
                                           noise::first_checkpoint(noise::KeyBytes{1}, stage), StepIndex{0});
  const std::size_t steps = noise::steps_per_block(dimension);
  const std::size_t rows = std::min(steps, data->rows.count());  // powers of two, all of them
  constexpr std::size_t blocks = 4;
  const auto units = std::make_shared<std::vector<std::int64_t>>();
  auto releases = std::make_shared<lane::Releases>();
  return {name, static_cast<double>(blocks * steps), [=] {
            releases->clear();
            for (std::size_t block = 0; block < blocks; ++block) {
              const noise::CorrelatedBlock noise = source->next();
              units->resize(noise.z.size());
              grid.round_noise(noise.z, *units);
              for (std::size_t step = 0; step < steps; step += rows) {
                lane->advance(
                    slice(data->rows, 0, rows),
                    {StepIndex{noise.first.value() + step}, dimension, std::span(*units).subspan(step * dimension)},
                    *releases);
              }
            }
            benchmarks::keep(lane->theta().data());
          }};
}

}  // namespace

int main(int argc, char** argv) {
  benchmarks::Report report("descent");
  for (const std::size_t dimension : {1U, 10U, 128U, 1000U}) {
    const std::string suffix = ", d = " + std::to_string(dimension);
    // Rows and noise of a batch stay in the second-level cache, as they do behind a decoder.
    const auto data = std::make_shared<Data>(make_data(dimension, dimension < 100 ? 4096 : 64));
    std::vector<benchmarks::Case> cases;
    const auto rows = static_cast<double>(data->rows.count());
    cases.push_back({"plain" + suffix, rows, [=] { plain_steps(*data, false); }});
    cases.push_back({"clipped" + suffix, rows, [=] { plain_steps(*data, true); }});
    for (const Variation& variation : variations(dimension)) cases.push_back(lane_case(suffix, variation, data));
    cases.push_back(
        noisy_lane_case("lane with its noise, independent" + suffix, noise::Correlation{noise::Independent{}}, data));
    cases.push_back(noisy_lane_case("lane with its noise, rational m = 6" + suffix,
                                    noise::Correlation{noise::Rational::nu_ftrl(Damping{1e-4}, 6)}, data));
    report.add(benchmarks::measure(cases, 101), "record");
    report.add_ratio("private over plain" + suffix, "lane" + suffix, "plain" + suffix);
    report.add_ratio("private over clipped" + suffix, "lane" + suffix, "clipped" + suffix);
  }
  return report.write(argc, argv);
}
