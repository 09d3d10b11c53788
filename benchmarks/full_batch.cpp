// Measures what the privacy of a full-batch descent costs in time: T = 100 steps of DP-GD and DP-2S-GD, compared with
// the same descent without clip, grid and noise, as one would write it with Eigen.
#include <Eigen/Dense>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "full_batch.h"
#include "harness.h"

namespace nustream::benchmarks {
namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr std::size_t rows = 1'000'000;
constexpr std::size_t steps = 100;  // T
constexpr double eta = 0.1;

/// Makes n rows of `width` normal numbers and a target.
std::shared_ptr<MemoryTable> table_of(std::size_t width) {
  auto table = std::make_shared<MemoryTable>();
  table->dimension = width;
  noise::NoiseSource draws(noise::Correlation{noise::Independent{}}, noise::GeneratorKind::automatic, width + 1,
                           noise::first_checkpoint(numbered_key(1), {LaneId{0}, EpochId{0}, 0}), StepIndex{0});
  while (table->rows() < rows) {
    const noise::CorrelatedBlock block = draws.next();
    for (std::size_t i = 0; i < block.steps && table->rows() < rows; ++i) {
      const double* const row = block.z.data() + i * (width + 1);
      table->x.insert(table->x.end(), row, row + width);
      table->y.push_back(row[width]);
    }
  }
  return table;
}

lane::Settings settings_of(std::size_t dimension) {
  lane::Settings settings = plain_descent(dimension, 20.0, eta);
  settings.minibatch = rows;
  settings.start.assign(dimension, 0.1);
  return settings;
}

/// Takes one step over all rows at a time, with its noise at hand.
struct PrivateDescent {
  std::shared_ptr<MemoryTable> table;
  lane::Lane lane;
  std::vector<lane::Stage> stages;
  std::vector<std::vector<std::int64_t>> units;
  lane::Releases releases;

  static std::vector<noise::Grid> grids(const lane::Settings& settings) {
    std::vector<noise::Grid> all;
    for (const lane::Stage& stage : lane::stages(settings)) all.emplace_back(NoiseStddev{1.0}, 1.0, stage.clip);
    return all;
  }
  PrivateDescent(std::shared_ptr<MemoryTable> data, const lane::Settings& settings)
      : table(std::move(data)), lane(settings, grids(settings), Position{0}), stages(lane::stages(settings)) {
    for (const lane::Stage& stage : stages) units.emplace_back(stage.dimension, 12345);
  }
  void step() {
    std::vector<noise::GridNoise> noise;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      noise.push_back({StepIndex{lane.steps().value()}, stages[i].dimension, units[i]});
    }
    releases.clear();
    lane.advance({table->dimension, rows, table->x.data(), table->y.data(), nullptr}, noise, releases);
    keep(releases);
  }
};

Case private_case(const std::string& name, std::shared_ptr<MemoryTable> table, const lane::Settings& settings) {
  auto descent = std::make_shared<PrivateDescent>(std::move(table), settings);
  return {name, static_cast<double>(steps * rows), [descent] {
            for (std::size_t t = 0; t < steps; ++t) descent->step();
          }};
}

Case plain_case(const std::string& name, std::shared_ptr<MemoryTable> table) {
  const auto d = static_cast<Eigen::Index>(table->dimension);
  auto theta = std::make_shared<Eigen::VectorXd>(Eigen::VectorXd::Constant(d, 0.1));
  return {name, static_cast<double>(steps * rows), [=] {
            const Eigen::Map<const RowMatrix> x(table->x.data(), rows, d);
            const Eigen::Map<const Eigen::VectorXd> y(table->y.data(), rows);
            for (std::size_t t = 0; t < steps; ++t) *theta -= eta / rows * (x.transpose() * (x * *theta - y));
            keep(theta->data());
          }};
}

/// Every row has q instruments and p regressors.
Case plain_two_stage_case(const std::string& name, std::shared_ptr<MemoryTable> table, Eigen::Index q) {
  const Eigen::Index p = static_cast<Eigen::Index>(table->dimension) - q;
  struct State {
    Eigen::MatrixXd first;
    Eigen::VectorXd second;
    RowMatrix fitted, residuals;
  };
  auto state = std::make_shared<State>();
  state->first = Eigen::MatrixXd::Constant(q, p, 0.1);
  state->second = Eigen::VectorXd::Constant(p, 0.1);
  return {name, static_cast<double>(steps * rows), [=] {
            const Eigen::Map<const RowMatrix> all(table->x.data(), rows, q + p);
            const Eigen::Map<const Eigen::VectorXd> y(table->y.data(), rows);
            const auto z = all.leftCols(q);
            for (std::size_t t = 0; t < steps; ++t) {
              state->fitted.noalias() = z * state->first;
              state->residuals = state->fitted - all.rightCols(p);
              const Eigen::VectorXd of_second = state->fitted.transpose() * (state->fitted * state->second - y);
              state->first.noalias() -= eta / rows * (z.transpose() * state->residuals);
              state->second -= eta / rows * of_second;
            }
            keep(state->second.data());
          }};
}

void add_two_stages(Report& report, std::size_t regressors) {
  const auto table = table_of(10 + regressors);
  const descent::TwoStageShape shape{10, 0, regressors};
  lane::Settings settings = settings_of(shape.dimension());
  settings.first_stage =
      lane::FirstStage{shape, ClipNorm{60.0}, descent::Schedule{descent::Constant{StepSize{eta}}}, 0};
  const std::string plain = fmt::format("plain 2S-GD by Eigen, 10 instruments, regressors: {}", regressors);
  const std::string ours = fmt::format("DP-2S-GD, 10 instruments, regressors: {}", regressors);
  report.add(measure({plain_two_stage_case(plain, table, 10), private_case(ours, table, settings)}, 3),
             "row and step");
  report.add_ratio(fmt::format("DP-2S-GD over plain, regressors: {}", regressors), ours, plain, "at most 1.3");
}

int run(int argc, char** argv) {
  Report report("full_batch");
  {
    const auto table = table_of(10);
    report.add(measure({plain_case("plain descent by Eigen, p = 10", table),
                        private_case("DP-GD, p = 10", table, settings_of(10))},
                       5),
               "row and step");
    report.add_ratio("DP-GD over plain", "DP-GD, p = 10", "plain descent by Eigen, p = 10", "at most 1.3");
  }
  for (const std::size_t regressors : {1U, 10U}) add_two_stages(report, regressors);
  return report.write(argc, argv);
}

}  // namespace
}  // namespace nustream::benchmarks

int main(int argc, char** argv) {
  return nustream::benchmarks::run(argc, argv);
}
