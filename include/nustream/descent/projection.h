// The projection Π, which says where an iterate may be. It depends on public bounds alone, so it costs no privacy.
#pragma once

#include <cstddef>
#include <span>
#include <variant>
#include <vector>

namespace nustream::descent {

/// No bound.
struct Unbounded {};

/// The ball ‖θ‖₂ ≤ radius about 0. The radius is finite and > 0.
struct Ball {
  double radius;
};

/// The box lower_j ≤ θ_j ≤ upper_j. Each side has one entry for all coordinates, or d entries; infinities leave a
/// side open.
struct Box {
  std::vector<double> lower;
  std::vector<double> upper;
};

/// One projection. It is valid by construction, except for the size of a box, which check() compares with d.
class Projection {
 public:
  using Family = std::variant<Unbounded, Ball, Box>;

  /// Projects nothing.
  Projection() = default;
  /// Throws InvalidParameter where the radius is not a finite number > 0, or where a box is empty, has sides of
  /// different sizes, a NaN, lower > upper, or a side at the wrong infinity.
  explicit Projection(Family family);

  /// Throws InvalidParameter where this is a box whose sides have neither 1 nor `dimension` entries.
  void check(std::size_t dimension) const;

  /// Moves θ to the nearest allowed point. A NaN stays where it is, and under a ball all of θ does where an entry is
  /// not finite: an iterate that has diverged is shown as it is. That reveals nothing more, as the iterate is a
  /// function of the noisy gradients.
  void apply(std::span<double> theta) const;

  [[nodiscard]] const Family& family() const noexcept { return family_; }

 private:
  Family family_;
};

}  // namespace nustream::descent
