// Two streams that differ in one record, and noise that hides it: shifted at each step that the record takes part in
// by the difference of the clipped gradients, so that everything released agrees.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/noise_supply.h"
#include "history.h"
#include "nustream/lane/lane.h"
#include "nustream/record/batch.h"
#include "nustream/users/changes.h"

namespace nustream::tests {

/// Grid units to add to the noise, one vector a stage, by step.
using Shifts = std::map<std::uint64_t, std::vector<std::vector<std::int64_t>>>;

/// A lane's own noise, shifted.
class ShiftedNoise final : public engine::NoiseSupply {
 public:
  ShiftedNoise(std::unique_ptr<engine::NoiseSupply> noise, Shifts shifts)
      : noise_(std::move(noise)), shifts_(std::move(shifts)) {}
  std::span<const noise::GridNoise> take(std::size_t steps_max) override;
  [[nodiscard]] journal::NoiseCheckpoints checkpoints() const override { return noise_->checkpoints(); }

 private:
  std::unique_ptr<engine::NoiseSupply> noise_;
  Shifts shifts_;
  std::vector<std::vector<std::int64_t>> units_;
  std::vector<noise::GridNoise> slices_;
};

/// After one step over the rows [begin, end), of size 1 over their sum and without noise: θ less each stage's sum,
/// then what second moments and what count of clipped gradients the settings keep, negative. `users`: where the unit
/// is the user, what is used up.
[[nodiscard]] std::vector<double> less_its_sum(lane::Settings settings, std::span<const noise::Grid> grids,
                                               std::span<const double> theta, const record::RowBatch& rows,
                                               std::size_t begin, std::size_t end, users::Changes* users = nullptr);
/// Zeros for one step of each stage, which has so many entries. `units` keeps them.
[[nodiscard]] std::vector<noise::GridNoise> silence(std::span<const std::size_t> entries,
                                                    std::vector<std::vector<std::int64_t>>& units);
/// Of whole grid units; an exception where it is none.
[[nodiscard]] std::int64_t whole_units(double value);

/// By how many grid units the sum of clipped gradients of a step changes at the iterate `theta`, one vector a stage,
/// where row `here` takes the place of row `there`: Σ(here) − Σ(there), read off two lanes of one step each.
[[nodiscard]] std::vector<std::vector<std::int64_t>> gradient_difference(
    const lane::Settings& settings, std::span<const noise::Grid> grids, std::span<const double> theta,
    const record::RowBatch& here, const record::RowBatch& there, std::size_t row);

/// ‖C(z' − z)‖ for one stage's correlation: the smallest ‖w‖ with B w = z' − z, by dense matrices.
class EncoderTwin {
 public:
  EncoderTwin(const noise::Correlation& correlation, std::size_t steps);
  /// ‖C(z' − z)‖² over the first 0, 1, … `steps` steps, in units of the grid. `shifts` holds this stage's vectors by
  /// step.
  [[nodiscard]] std::vector<double> squares(const Shifts& shifts, std::size_t stage) const;

 private:
  std::size_t steps_;
  std::vector<double> factor_;  // L, lower triangular, row-major, with L Lᵀ = B Bᵀ
};

}  // namespace nustream::tests
