// Measures what one private step costs over a plain one: the lane, with its noise at hand, beside textbook loops.
//
// Every case takes the same steps of linear regression on the same rows. "plain" and "clipped" are the loops that
// anyone would write, without noise and without a grid; they are comparators and not private. "lane" is the product's
// path. "with its noise" also draws the noise in the same thread, as a replay on one core does.
//
// In the environment: ROUNDS is the number of timings of each case (101), and DIMENSION is the only dimension. With
// DIMENSION, ROWS_FILE is a file of the rows to take instead of drawn ones, each once in a timing: x and y, row after
// row, as native doubles.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness.h"
#include "nustream/lane/lane.h"
#include "nustream/noise/source.h"

namespace {

using namespace nustream;

constexpr double step_size = 1e-4;
constexpr double clip_norm = 3.0;
constexpr std::size_t blocks_min = 4;  // blocks of noise in one timing

struct Data {
  record::RowBatch rows;
  std::vector<std::int64_t> noise;
  std::vector<double> theta;
};

record::RowBatch drawn_rows(std::size_t dimension, std::size_t count) {
  std::mt19937_64 random(dimension);
  std::normal_distribution<double> normal;
  record::RowBatch rows;
  rows.dimension = dimension;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < dimension; ++j) rows.x.push_back(normal(random));
    rows.y.push_back(normal(random));
    rows.next.push_back(i + 1);
  }
  return rows;
}

record::RowBatch rows_of_file(const std::string& path, std::size_t dimension) {
  std::ifstream file(path, std::ios::binary);
  std::vector<double> row(dimension + 1);
  const auto bytes = static_cast<std::streamsize>(row.size() * sizeof(double));
  record::RowBatch rows;
  rows.dimension = dimension;
  while (file.read(reinterpret_cast<char*>(row.data()), bytes)) {
    rows.x.insert(rows.x.end(), row.begin(), row.end() - 1);
    rows.y.push_back(row.back());
    rows.next.push_back(rows.count() + 1);
  }
  const std::size_t block = noise::steps_per_block(dimension);
  if (file.gcount() != 0 || rows.count() % block != 0 || rows.count() < blocks_min * block) {
    throw std::invalid_argument("ROWS_FILE=" + path + ": not whole rows, at least " + std::to_string(blocks_min) +
                                " times " + std::to_string(block));
  }
  return rows;
}

Data data_of(record::RowBatch rows) {
  Data data;
  std::mt19937_64 random(rows.dimension);
  std::normal_distribution<double> normal;
  data.noise.resize(rows.x.size());
  for (std::int64_t& unit : data.noise) unit = static_cast<std::int64_t>(normal(random) * 0x1p32);
  data.theta.assign(rows.dimension, 0.0);
  data.rows = std::move(rows);
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
  const noise::StageId stage{LaneId{0}, EpochId{0}, 0};
  const auto source =
      std::make_shared<noise::NoiseSource>(correlation, noise::GeneratorKind::automatic, dimension,
                                           noise::first_checkpoint(noise::KeyBytes{1}, stage), StepIndex{0});
  const std::size_t block = noise::steps_per_block(dimension);
  const std::size_t count = data->rows.count();
  const std::size_t rows = std::min(block, count);  // rows of one call; powers of two if rows are drawn
  const std::size_t steps = std::max(count, blocks_min * block);
  const auto units = std::make_shared<std::vector<std::int64_t>>();
  auto releases = std::make_shared<lane::Releases>();
  return {name, static_cast<double>(steps), [=] {
            releases->clear();
            for (std::size_t taken = 0; taken < steps; taken += block) {
              const noise::CorrelatedBlock noise = source->next();
              units->resize(noise.z.size());
              grid.round_noise(noise.z, *units);
              for (std::size_t step = 0; step < block; step += rows) {
                const std::size_t first = (taken + step) % count;
                lane->advance(
                    slice(data->rows, first, first + rows),
                    {StepIndex{noise.first.value() + step}, dimension, std::span(*units).subspan(step * dimension)},
                    *releases);
              }
            }
            benchmarks::keep(lane->theta().data());
          }};
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t rounds = benchmarks::asked("ROUNDS", 101);
  const std::size_t only = benchmarks::asked("DIMENSION", 0);
  const char* const file = only > 0 ? std::getenv("ROWS_FILE") : nullptr;
  const std::vector<std::size_t> dimensions =
      only > 0 ? std::vector<std::size_t>{only} : std::vector<std::size_t>{1, 10, 128, 1000};
  benchmarks::Report report("descent");
  for (const std::size_t dimension : dimensions) {
    const std::string suffix = ", d = " + std::to_string(dimension);
    // Drawn rows and the noise of a batch stay in the second-level cache, as they do behind a decoder.
    const auto data = std::make_shared<Data>(data_of(
        file != nullptr ? rows_of_file(file, dimension) : drawn_rows(dimension, dimension < 100 ? 4096 : 64)));
    std::vector<benchmarks::Case> cases;
    const auto rows = static_cast<double>(data->rows.count());
    cases.push_back({"plain" + suffix, rows, [=] { plain_steps(*data, false); }});
    cases.push_back({"clipped" + suffix, rows, [=] { plain_steps(*data, true); }});
    for (const Variation& variation : variations(dimension)) cases.push_back(lane_case(suffix, variation, data));
    cases.push_back(
        noisy_lane_case("lane with its noise, independent" + suffix, noise::Correlation{noise::Independent{}}, data));
    cases.push_back(noisy_lane_case("lane with its noise, rational m = 6" + suffix,
                                    noise::Correlation{noise::Rational::nu_ftrl(Damping{1e-4}, 6)}, data));
    report.add(benchmarks::measure(cases, rounds), "record");
    report.add_ratio("private over plain" + suffix, "lane" + suffix, "plain" + suffix);
    report.add_ratio("private over clipped" + suffix, "lane" + suffix, "clipped" + suffix);
  }
  return report.write(argc, argv);
}
