// Π: where an iterate may be. Public bounds only; it costs no privacy.
#pragma once

#include <cstddef>
#include <span>
#include <variant>
#include <vector>

namespace nustream::descent {

/// Everywhere.
struct Unbounded {};

/// ‖θ‖₂ ≤ radius, about 0. radius > 0, finite.
struct Ball {
  double radius;
};

/// lower_j ≤ θ_j ≤ upper_j. One entry each for all coordinates, or d entries; infinities leave a side open.
struct Box {
  std::vector<double> lower;
  std::vector<double> upper;
};

/// One projection: valid by construction, but for a box's size, which check() compares with d.
class Projection {
 public:
  using Family = std::variant<Unbounded, Ball, Box>;

  /// No projection.
  Projection() = default;
  /// Throws InvalidParameter where the radius is not a finite number > 0, or a box is empty, has sides of
  /// different sizes, a NaN, lower > upper, or a side at the wrong infinity.
  explicit Projection(Family family);

  /// Throws InvalidParameter where this is a box of neither 1 nor `dimension` entries.
  void check(std::size_t dimension) const;

  /// Moves θ to the nearest allowed point. A NaN stays where it is, and so does all of θ under a ball where
  /// an entry is not finite: an iterate that has diverged is shown as such. It hides nothing, being a function
  /// of the noisy gradients.
  void apply(std::span<double> theta) const;

  [[nodiscard]] const Family& family() const noexcept { return family_; }

 private:
  Family family_;
};

}  // namespace nustream::descent
