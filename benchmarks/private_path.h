// One private descent over rows held in memory, without files or state. The accuracy figures are made with this.
#pragma once

#include <cstdint>
#include <vector>

#include "nustream/lane/lane.h"
#include "nustream/noise/source.h"
#include "nustream/privacy/sensitivity.h"
#include "nustream/privacy/zcdp.h"
#include "nustream/record/batch.h"

namespace nustream::benchmarks {

/// A plain descent of d coefficients from zero with a constant step size, one record a step, and every iterate
/// released.
inline lane::Settings plain_descent(std::size_t dimension, double clip, double step_size) {
  return {.dimension = dimension,
          .loss = {},
          .l2 = 0,
          .clip = ClipNorm{clip},
          .schedule = descent::Schedule{descent::Constant{StepSize{step_size}}},
          .projection = {},
          .averaging = {},
          .minibatch = 1,
          .release_every = 1,
          .start = std::vector<double>(dimension, 0.0)};
}

/// The last iterate and the average of a run, in working coordinates.
struct PathEnd {
  std::vector<double> last;
  std::vector<double> average;
};

/// Descends over all `rows` with the noise of `correlation` at ρ = `rho` (σ from the correlation's own limit,
/// zero-out adjacency) under `key`. A null `key` gives the run without noise on the same grid.
inline PathEnd descend(const lane::Settings& settings, const record::RowBatch& rows,
                       const noise::Correlation& correlation, Rho rho, const noise::KeyBytes* key) {
  const auto once = privacy::Participation::once();
  const Displacement delta = privacy::displacement(settings.clip, privacy::Adjacency::zero_out);
  const NoiseStddev stddev =
      noise_stddev(privacy::multiplier_for(privacy::sensitivity_limit(correlation, once), rho), delta);
  const noise::Grid grid(stddev, noise::largest_stddev(correlation), settings.clip);
  lane::Lane lane(settings, grid, Position{0});
  lane::Releases releases;
  std::vector<std::int64_t> units(noise::steps_per_block(settings.dimension) * settings.dimension, 0);
  std::unique_ptr<noise::NoiseSource> source;
  if (key != nullptr) {
    const noise::StageId stage{LaneId{0}, EpochId{0}, 0};
    source = std::make_unique<noise::NoiseSource>(correlation, noise::GeneratorKind::automatic, settings.dimension,
                                                  noise::first_checkpoint(*key, stage), StepIndex{0});
  }
  for (std::size_t row = 0; row < rows.count();) {
    std::size_t steps = units.size() / settings.dimension;
    if (source != nullptr) {
      const noise::CorrelatedBlock block = source->next();
      steps = block.steps;
      units.resize(steps * settings.dimension);
      grid.round_noise(block.z, units);
    }
    const std::size_t end = std::min(rows.count(), row + steps);
    lane.advance(record::slice(rows, row, end), {StepIndex{row}, settings.dimension, units}, releases);
    row = end;
  }
  releases.clear();
  lane.release_now(releases);
  const lane::Release end = releases[0];
  return {{end.theta.begin(), end.theta.end()}, {end.average.begin(), end.average.end()}};
}

/// The Euclidean distance.
inline double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return std::sqrt(sum);
}

/// The key for run number `run`. It is fixed, so that the figures can be made again; it must never be used for data
/// that matters.
inline noise::KeyBytes numbered_key(std::uint64_t run) {
  noise::KeyBytes key{};
  for (std::size_t i = 0; i < 8; ++i) key[i] = static_cast<std::uint8_t>(run >> (8 * i));
  key[31] = 1;
  return key;
}

/// The mean and standard error of a sample.
struct Estimate {
  double mean;
  double standard_error;
};
inline Estimate estimate(const std::vector<double>& values) {
  const double n = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / (n - 1) / n)};
}

}  // namespace nustream::benchmarks
