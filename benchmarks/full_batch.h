// Descents over a table in memory, without files. The figures of the full-batch papers are made with these.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "nustream/inference/least_squares.h"
#include "private_path.h"

namespace nustream::benchmarks {

/// Rows of d numbers and their targets.
struct MemoryTable {
  std::size_t dimension = 0;
  std::vector<double> x;
  std::vector<double> y;
  [[nodiscard]] std::size_t rows() const noexcept { return y.size(); }
  [[nodiscard]] inference::TableView view() const noexcept { return {dimension, x, y}; }
};

/// What a descent over a table spends and how it clips; there is one for each stage.
struct StageBudget {
  double rho;
  /// Factor of the standard deviation: 1 for the exact calibration, √2 for the constant of the IV paper's text.
  double inflation = 1;
};

/// All iterates of T full-batch steps, row-major T × dimension, and how often a gradient was clipped.
struct Iterates {
  std::size_t dimension = 0;
  std::vector<double> theta;
  double clipped_share = 0;
  [[nodiscard]] std::span<const double> at(std::size_t step) const {
    return std::span(theta).subspan(step * dimension, dimension);
  }
  [[nodiscard]] std::span<const double> last() const { return std::span(theta).last(dimension); }
};

/// A replace-one descent of T steps over m records each, in the table's order and again from its beginning; m must
/// divide n. σ comes from the correlation's own sensitivity over T steps with ⌈T/b⌉ participations that are b = n/m
/// steps apart. `budgets` has one entry for each stage. Without a key the noise is off.
inline Iterates minibatch_descent(lane::Settings settings, const MemoryTable& table, std::uint64_t steps,
                                  std::size_t minibatch, const noise::Correlation& correlation,
                                  std::span<const StageBudget> budgets, std::optional<std::uint64_t> key) {
  settings.minibatch = minibatch;
  settings.release_every = 1;
  const std::size_t parts = table.rows() / minibatch;
  const privacy::Participation every{(steps + parts - 1) / parts, parts};
  const Sensitivity sensitivity = privacy::sensitivity(correlation, StepCount{steps}, every);
  const std::vector<lane::Stage> stages = lane::stages(settings);
  std::vector<noise::Grid> grids;
  std::vector<std::vector<std::int64_t>> units;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const Displacement displacement = privacy::displacement(stages[i].clip, privacy::Adjacency::replace_one);
    const NoiseStddev exact = noise_stddev(privacy::multiplier_for(sensitivity, Rho{budgets[i].rho}), displacement);
    const NoiseStddev stddev{exact.value() * budgets[i].inflation};
    grids.emplace_back(stddev, noise::largest_stddev(correlation), stages[i].clip);
    units.emplace_back(steps * stages[i].dimension, 0);
    if (!key) continue;
    noise::NoiseSource source(
        correlation, noise::GeneratorKind::automatic, stages[i].dimension,
        noise::first_checkpoint(numbered_key(*key), {LaneId{0}, EpochId{0}, static_cast<std::uint32_t>(i)}),
        StepIndex{0});
    for (std::size_t filled = 0; filled < steps;) {
      const noise::CorrelatedBlock block = source.next();
      const std::size_t count = std::min(block.steps, steps - filled);
      grids.back().round_noise(
          block.z.first(count * stages[i].dimension),
          std::span(units.back()).subspan(filled * stages[i].dimension, count * stages[i].dimension));
      filled += count;
    }
  }
  lane::Lane lane(settings, grids, Position{0});
  lane::Releases releases;
  for (std::uint64_t t = 0; t < steps; ++t) {
    std::vector<noise::GridNoise> noise;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      noise.push_back({StepIndex{t}, stages[i].dimension,
                       std::span(units[i]).subspan(t * stages[i].dimension, stages[i].dimension)});
    }
    const std::size_t first = t % parts * minibatch;
    lane.advance(
        {table.dimension, minibatch, table.x.data() + first * table.dimension, table.y.data() + first, nullptr},
        noise, releases);
  }
  Iterates iterates{settings.dimension, {}, 0};
  for (std::size_t i = 0; i < releases.size(); ++i) {
    iterates.theta.insert(iterates.theta.end(), releases[i].theta.begin(), releases[i].theta.end());
  }
  const auto gradients = static_cast<double>(stages.size() * minibatch * steps);
  iterates.clipped_share = static_cast<double>(lane.clipped()) / gradients;
  return iterates;
}

/// The descent with every record in every step (k = T, b = 1).
inline Iterates full_batch_descent(lane::Settings settings, const MemoryTable& table, std::uint64_t steps,
                                   const noise::Correlation& correlation, std::span<const StageBudget> budgets,
                                   std::optional<std::uint64_t> key) {
  return minibatch_descent(std::move(settings), table, steps, table.rows(), correlation, budgets, key);
}

inline double distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t j = 0; j < b.size(); ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return std::sqrt(sum);
}

}  // namespace nustream::benchmarks
