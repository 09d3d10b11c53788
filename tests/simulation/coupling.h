// Two streams that differ in one record, and noise that hides the record: the noise is shifted, at each step in which
// the record takes part, by the difference of the clipped gradients, so that everything released agrees.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/noise_feed.h"
#include "history.h"
#include "nustream/lane/lane.h"
#include "nustream/record/batch.h"
#include "nustream/users/changes.h"

namespace nustream::tests {

/// Grid units to add to the noise, by step; one vector for each stage.
using Shifts = std::map<std::uint64_t, std::vector<std::vector<std::int64_t>>>;

/// A lane's own noise with shifts added to it.
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

/// The result of one step of size 1 over the sum of the rows [begin, end), without noise: θ less each stage's sum,
/// and then the negative of those second moments, and of the count of clipped gradients, that the settings keep.
/// `users`: where the unit is the user, what each has used up.
[[nodiscard]] std::vector<double> less_its_sum(lane::Settings settings, std::span<const noise::Grid> grids,
                                               std::span<const double> theta, const record::RowBatch& rows,
                                               std::size_t begin, std::size_t end, users::Changes* users = nullptr);
/// Zeros as the noise of one step, for stages that have `entries` entries. `units` holds the memory.
[[nodiscard]] std::vector<noise::GridNoise> silence(std::span<const std::size_t> entries,
                                                    std::vector<std::vector<std::int64_t>>& units);
/// The value as a number of whole grid units; throws where it is not whole.
[[nodiscard]] std::int64_t whole_units(double value);

/// By how many grid units the sums of clipped gradients of a step change at the iterate `theta`, where row `here`
/// takes the place of row `there`: Σ(here) − Σ(there), one vector for each stage. The sums are read off two lanes of
/// one step each.
[[nodiscard]] std::vector<std::vector<std::int64_t>> gradient_difference(
    const lane::Settings& settings, std::span<const noise::Grid> grids, std::span<const double> theta,
    const record::RowBatch& here, const record::RowBatch& there, std::size_t row);

/// ‖C(z' − z)‖ for one stage's correlation, which is the smallest ‖w‖ with B w = z' − z. It is computed with dense
/// matrices.
class EncoderTwin {
 public:
  EncoderTwin(const noise::Correlation& correlation, std::size_t steps);
  /// ‖C(z' − z)‖² over the first 0, 1, … `steps` steps, in units of the grid. `shifts` holds this stage's vectors by
  /// step.
  [[nodiscard]] std::vector<double> squares(const Shifts& shifts, std::size_t stage) const;

 private:
  std::size_t steps_;
  std::vector<double> factor_;  // L with L Lᵀ = B Bᵀ, lower triangular, row-major
};

}  // namespace nustream::tests
