// The released sums: those of each stage, noise included, and how they change when the centre moves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nustream/moments/batch_sums.h"
#include "nustream/moments/shape.h"
#include "nustream/noise/grid.h"

namespace nustream::moments {

/// The sums of the steps from `first` up to the next stage, which share one centre, one set of radii and one set of
/// scales. They have noise in them and are in the units of the newest stage, which are working units where no scale
/// has grown. The radii are in the units of the stage itself.
struct StageSums {
  std::uint64_t first = 0;  ///< a step
  Radii radii;
  std::vector<double> centre;        ///< θ_c: inputs × responses, column by column
  std::vector<double> second;        ///< Σ xxᵀ, isometric triangle
  std::vector<double> cross;         ///< Σ x·clip(residual): inputs × responses, column by column
  std::vector<double> spread;        ///< as Spread says; empty where nothing is kept
  std::vector<double> eigenvalue{};  ///< the noisy smallest eigenvalue of Σ xxᵀ; only for an adaptive ridge
  /// What the inputs of its rows were divided by, powers of two that are at least 1; empty: all of them are 1.
  std::vector<double> scales{};

  [[nodiscard]] double scale(std::size_t input) const { return scales.empty() ? 1 : scales[input]; }

  friend bool operator==(const StageSums&, const StageSums&) = default;
};

/// The scale that a stage had for an input over the newest stage's. The noise of a stage's sums was drawn in the
/// units of its own scales, and stands in the newest ones multiplied by this share once for every input of the entry.
/// It is at most 1, since scales only grow.
[[nodiscard]] double share_of_scale(const std::vector<StageSums>& stages, std::size_t stage, std::size_t input);

/// The noise of one step for each noised block, in their order, in units of the block's grid.
using StepNoise = std::span<const std::span<const std::int64_t>>;

/// How long steps count.
struct Memory {
  double kept = 1;          ///< κ in (0, 1]: what a step keeps of the sums before it; 1 keeps all of them for ever
  std::uint64_t reach = 0;  ///< number of steps after which a forgotten stage is dropped; unused where κ = 1

  [[nodiscard]] bool forgets() const noexcept { return kept < 1; }
};

/// Everything that is kept of the steps so far.
///
/// With plain sums (κ = 1) each stage keeps its own sums, about its own centre, for ever. Forgetting sums (κ < 1) are
/// one set, S ← κS + step, at the last stage's centre. When that centre moves from θ to θ′, the cross moments become
/// G − H(θ′ − θ), with the H that has noise in it. Earlier stages keep only their radii and centres, which intervals
/// need.
///
/// Guarantee: everything is a function of noisy sums and public settings, so the centres and scales may aim the
/// batches of later steps (CDP+ Theorem 1.1 holds for adaptive inputs). Radii and scales may change from stage to
/// stage, because the noise of each step is in units of the radii and scales that held at that step: in these units
/// every record moves the step by at most 1. What was released before is then mapped, noise and all.
class RunningSums {
 public:
  /// Begins one stage at step 0. `spacings` are in the order of blocks(). Throws InvalidParameter where memory.kept
  /// or the radii are out of range.
  RunningSums(const Design& design, const Spacings& spacings, const Memory& memory, const Radii& radii,
              std::span<const double> centre);

  /// Takes one step: adds the sums of its batch and its noise. Noisy sums are kept as doubles: nothing wraps, and
  /// rounding is far below the noise.
  void step(BatchSums& batch, StepNoise noise);
  /// Lets later steps, from `first` on, belong to a new stage. If the sums forget, stages that ended more than
  /// memory().reach before `first` are dropped.
  ///
  /// `centre` is in the units of the stage before, and `scales` (empty: all 1) are at least that stage's, powers of
  /// two. All sums and centres are divided into the new units, which is exact. Sums that forget have no scales.
  void begin_stage(std::uint64_t first, const Radii& radii, std::span<const double> centre,
                   std::span<const double> scales = {});

  [[nodiscard]] const std::vector<StageSums>& stages() const noexcept { return stages_; }
  [[nodiscard]] const Memory& memory() const noexcept { return memory_; }
  /// Goes on from what stages() gave.
  void restore(std::vector<StageSums> stages) { stages_ = std::move(stages); }

 private:
  struct Cells {
    std::span<double> sums;
    double unit;  // unit of the grid, in working units
    bool noised;
  };
  [[nodiscard]] Cells cells(Block block);
  void move(const StageSums& from, StageSums& to) const;
  void divide(std::span<const double> growth, StageSums& stage) const;

  Design design_;
  Spacings spacings_;
  Memory memory_;
  std::vector<StageSums> stages_;
};

}  // namespace nustream::moments
