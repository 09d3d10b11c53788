// The released sums: those of each stage, noise and all, and how they change when the centre moves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nustream/moments/batch_sums.h"
#include "nustream/moments/shape.h"
#include "nustream/noise/grid.h"

namespace nustream::moments {

/// The steps from `first` on, up to the next stage, with one centre and one set of radii; and their sums with the
/// noise in them, in working units.
struct StageSums {
  std::uint64_t first = 0;  ///< step
  Radii radii;
  std::vector<double> centre;        ///< θ_c: inputs × responses, column by column
  std::vector<double> second;        ///< Σ xxᵀ, isometric triangle
  std::vector<double> cross;         ///< Σ x·clip(residual): inputs × responses, column by column
  std::vector<double> spread;        ///< as Spread says; empty where nothing is kept
  std::vector<double> eigenvalue{};  ///< the noisy smallest one of Σ xxᵀ; empty but for an adaptive ridge

  friend bool operator==(const StageSums&, const StageSums&) = default;
};

/// Noise of one step for each noised block, in their order: units of that block's grid.
using StepNoise = std::span<const std::span<const std::int64_t>>;

/// How long steps count.
struct Memory {
  double kept = 1;          ///< κ: what a step keeps of the sums before it, in (0, 1]; 1: all of them, for ever
  std::uint64_t reach = 0;  ///< steps behind which a forgotten stage is dropped; unused where κ = 1

  [[nodiscard]] bool forgets() const noexcept { return kept < 1; }
};

/// Everything that is kept of the steps so far.
///
/// Plain sums (κ = 1): each stage keeps its own, about its own centre, for ever. Forgetting ones (κ < 1): one set of
/// sums, S ← κS + step, at the last stage's centre: when that moves from θ to θ′ the cross moments become
/// G − H(θ′ − θ), H with its noise, and the earlier stages keep their radii and centres alone (for intervals).
///
/// Guarantee: a function of noisy sums and public settings, so that its centres may aim the batches of later steps
/// (CDP+ Theorem 1.1 holds for adaptive inputs). Radii may change from stage to stage because each step's sums are
/// noised in units of the radii of their own day.
class RunningSums {
 public:
  /// One stage from step 0 on. `spacings` in the order of blocks().
  RunningSums(const Design& design, const Spacings& spacings, const Memory& memory, const Radii& radii,
              std::span<const double> centre);

  /// Takes one step: the sums of its batch plus its noise. Doubles hold noisy sums: nothing wraps, and rounding is
  /// far below the noise.
  void step(BatchSums& batch, StepNoise noise);
  /// Later steps belong to a new stage, from step `first` on. Where they forget, stages that ended more than the
  /// reach before it are dropped.
  void begin_stage(std::uint64_t first, const Radii& radii, std::span<const double> centre);

  [[nodiscard]] const std::vector<StageSums>& stages() const noexcept { return stages_; }
  [[nodiscard]] const Memory& memory() const noexcept { return memory_; }
  /// Goes on from what stages() gave.
  void restore(std::vector<StageSums> stages) { stages_ = std::move(stages); }

 private:
  struct Cells {
    std::span<double> sums;
    double unit;  // of the grid, in working units
    bool noised;
  };
  [[nodiscard]] Cells cells(Block block);
  void move(const StageSums& from, StageSums& to) const;

  Design design_;
  Spacings spacings_;
  Memory memory_;
  std::vector<StageSums> stages_;
};

}  // namespace nustream::moments
