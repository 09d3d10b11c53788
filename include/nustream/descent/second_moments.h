// Running private means of clip(xxᵀ) and clip(r²xxᵀ): bread and meat of a sandwich interval.
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

/// Entries of a symmetric d × d matrix that are kept: its upper triangle.
[[nodiscard]] constexpr std::size_t triangle_size(std::size_t dimension) noexcept {
  return dimension * (dimension + 1) / 2;
}

/// Upper triangle of xxᵀ, row by row, its off-diagonal entries times √2: the vector has the length of the matrix
/// (Frobenius), so that clipping one clips the other. `out` has triangle_size(x.size()) entries.
void isometric_triangle(std::span<const double> x, std::span<double> out);
/// Its inverse: the full symmetric matrix, row-major d × d.
[[nodiscard]] std::vector<double> symmetric_matrix(std::span<const double> triangle, std::size_t dimension);

/// One stage of a lane: the mean over steps from + 1, …, t of (clip(M_i, G) + z_i), M_i = factor_i · x_i x_iᵀ. It is
/// the mean-estimation descent with step sizes 1, ½, ⅓, …, and like it a function of clipped records and noise.
class PrivateMean {
 public:
  /// Of triangles of d = `dimension` rows, on a grid of the clip norm G, over steps of `minibatch` records.
  PrivateMean(const noise::Grid& grid, std::size_t dimension, std::uint64_t minibatch);
  ~PrivateMean();
  PrivateMean(PrivateMean&&) noexcept;
  PrivateMean& operator=(PrivateMean&&) noexcept;

  /// Adds factor · xxᵀ to the step at hand, given the triangle of xxᵀ; nothing where it is not finite.
  void add(std::span<const double> triangle, double factor);
  /// Takes the step with its noise (triangle_size(d) units of the grid). It enters the mean with `gain`, or not at
  /// all where that is 0.
  void step(std::span<const std::int64_t> noise, double gain);

  /// Isometric triangle of the mean.
  [[nodiscard]] std::span<const double> mean() const noexcept { return mean_; }
  /// Goes on from what mean() gave.
  void restore(std::span<const double> mean);

 private:
  double per_unit_;  // s/m
  std::unique_ptr<GradientSum> sum_;
  std::vector<double> mean_;
};

/// Bread, and meat where it is asked for, with the residual r = θ_tᵀx − y of the very gradient of the step: what the
/// iterate's own spread adds to the noise of the gradients (x xᵀ(θ_t − θ*)) is in the meat, where the residual at the
/// average would leave it out.
class SecondMoments {
 public:
  /// `bread` and `meat` are the grids of the two stages, `meat` null where there is none; `from`: steps before the
  /// means begin.
  SecondMoments(const noise::Grid& bread, const noise::Grid* meat, std::size_t dimension, std::uint64_t minibatch,
                std::uint64_t from);

  /// The records of the step that θ, the iterate after `steps` steps, takes: m rows of d, m targets, with the noise
  /// of each stage. θ and the targets matter to the meat alone.
  void step(std::span<const double> x, std::span<const double> y, std::span<const double> theta,
            std::span<const double> weights, std::span<const std::int64_t> bread_noise,
            std::span<const std::int64_t> meat_noise, StepCount steps);

  /// Isometric triangles; zeros before the means begin. No meat: empty.
  [[nodiscard]] std::span<const double> bread() const noexcept { return bread_.mean(); }
  [[nodiscard]] std::span<const double> meat() const noexcept {
    return meat_ ? meat_->mean() : std::span<const double>{};
  }
  /// Steps in the means after `steps` steps.
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
