// Running private means of clip(xxᵀ) and clip(r²xxᵀ): the bread and the meat of a sandwich interval.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/noise/grid.h"

namespace nustream::descent {

class GradientSum;

/// How many entries of a symmetric d × d matrix are kept: those of its upper triangle.
[[nodiscard]] constexpr std::size_t triangle_size(std::size_t dimension) noexcept {
  return dimension * (dimension + 1) / 2;
}

/// Writes the upper triangle of xxᵀ row by row, with its off-diagonal entries multiplied by √2. The vector then has
/// the same length as the matrix has in the Frobenius norm, so that clipping the one clips the other. `out` has
/// triangle_size(x.size()) entries.
void isometric_triangle(std::span<const double> x, std::span<double> out);
/// The inverse of isometric_triangle(): the full symmetric matrix, row-major d × d.
[[nodiscard]] std::vector<double> symmetric_matrix(std::span<const double> triangle, std::size_t dimension);

/// One stage of a lane: the mean over steps from + 1, …, t of (clip(M_i, G) + z_i), with M_i = factor_i · x_i x_iᵀ.
/// It is the descent of mean estimation with step sizes 1, ½, ⅓, …. Like that descent it is a function of clipped
/// records and noise alone.
class PrivateMean {
 public:
  /// The mean of triangles of d = `dimension` rows, on a grid made for the clip norm G, over steps of `minibatch`
  /// records.
  PrivateMean(const noise::Grid& grid, std::size_t dimension, std::uint64_t minibatch);
  ~PrivateMean();
  PrivateMean(PrivateMean&&) noexcept;
  PrivateMean& operator=(PrivateMean&&) noexcept;

  /// Adds factor · xxᵀ to the current step, given the triangle of xxᵀ. Adds nothing where the triangle is not finite.
  void add(std::span<const double> triangle, double factor);
  /// Takes the step with its noise, triangle_size(d) units of the grid. The step enters the mean with `gain`, or not
  /// at all where `gain` is 0.
  void step(std::span<const std::int64_t> noise, double gain);

  /// The isometric triangle of the mean.
  [[nodiscard]] std::span<const double> mean() const noexcept { return mean_; }
  /// Goes on from what mean() gave.
  void restore(std::span<const double> mean);

 private:
  double per_unit_;  // s/m
  std::unique_ptr<GradientSum> sum_;
  std::vector<double> mean_;
};

/// The bread, and the meat where it is asked for. The residual r = θ_tᵀx − y is that of the step's own gradient. So
/// the meat includes what the spread of the iterate itself adds to the noise of the gradients, x xᵀ(θ_t − θ*); a
/// residual at the average would leave that out.
class SecondMoments {
 public:
  /// `bread` and `meat` are the grids of the two stages; `meat` is null where there is none. The means begin after
  /// `from` steps.
  SecondMoments(const noise::Grid& bread, const noise::Grid* meat, std::size_t dimension, std::uint64_t minibatch,
                std::uint64_t from);

  /// Takes the records of the step that begins at θ, the iterate after `steps` steps: m rows of d entries and m
  /// targets, with the noise of each stage. Only the meat uses θ and the targets.
  void step(std::span<const double> x, std::span<const double> y, std::span<const double> theta,
            std::span<const double> weights, std::span<const std::int64_t> bread_noise,
            std::span<const std::int64_t> meat_noise, StepCount steps);

  /// The isometric triangles of the means; zeros before the means begin. Empty where there is no meat.
  [[nodiscard]] std::span<const double> bread() const noexcept { return bread_.mean(); }
  [[nodiscard]] std::span<const double> meat() const noexcept {
    return meat_ ? meat_->mean() : std::span<const double>{};
  }
  /// How many steps are in the means after `steps` steps.
  [[nodiscard]] std::uint64_t count(StepCount steps) const noexcept;

  /// Goes on from what bread() and meat() gave.
  void restore(std::span<const double> bread, std::span<const double> meat);

 private:
  std::size_t dimension_;
  std::uint64_t minibatch_;
  std::uint64_t from_;
  PrivateMean bread_;
  std::optional<PrivateMean> meat_;
  std::vector<double> triangle_;
};

}  // namespace nustream::descent
