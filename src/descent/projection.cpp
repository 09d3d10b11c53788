// The projections, and the checks of their public bounds. The kernels have fast versions of their own for ordinary
// iterates, and call apply() for all others.
#include "nustream/descent/projection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "descent/norm.h"
#include "nustream/base/error.h"

namespace nustream::descent {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// All bounds are public settings, and are checked when the projection is made.
struct CheckSet {
  void operator()(const Unbounded&) const {}
  void operator()(const Ball& ball) const {
    if (!std::isfinite(ball.radius) || ball.radius <= 0) {
      throw InvalidParameter("radius", std::to_string(ball.radius), "a finite number > 0");
    }
  }
  void operator()(const Box& box) const {
    if (box.lower.empty() || box.lower.size() != box.upper.size()) {
      throw InvalidParameter(
          "box",
          std::to_string(box.lower.size()) + " lower and " + std::to_string(box.upper.size()) + " upper bounds",
          "as many lower as upper bounds, at least one");
    }
    for (std::size_t j = 0; j < box.lower.size(); ++j) {
      // The first comparison is false for a NaN. The other two refuse a side that is the same infinity twice.
      const bool reachable = box.lower[j] <= box.upper[j] && box.lower[j] < infinity && box.upper[j] > -infinity;
      if (!reachable) {
        throw InvalidParameter("box", std::to_string(box.lower[j]) + " … " + std::to_string(box.upper[j]),
                               "lower <= upper, with a finite number between");
      }
    }
  }
};

/// Moves θ to the nearest point of the set.
struct Apply {
  std::span<double> theta;

  void operator()(const Unbounded&) const {}
  void operator()(const Ball& ball) const {
    const ScaledNorm norm = scaled_norm(theta);
    // The factor is computed by two quotients, neither of which overflows where ‖θ‖ itself would.
    const double factor = (ball.radius / norm.scale) / norm.fraction;
    // This also returns for θ = 0, where the factor is infinite, and for an iterate that is not finite, where it is
    // NaN.
    if (!(factor < 1)) return;
    // Both quotients are of ordinary size, even where θ itself is near the largest double.
    for (double& entry : theta) entry = (entry / norm.scale) * (ball.radius / norm.fraction);
  }
  void operator()(const Box& box) const {
    // If there is a single pair of bounds, it holds for every coefficient.
    const bool common = box.lower.size() == 1;
    for (std::size_t j = 0; j < theta.size(); ++j) {
      const std::size_t side = common ? 0 : j;
      theta[j] = std::clamp(theta[j], box.lower[side], box.upper[side]);
    }
  }
};

}  // namespace

Projection::Projection(Family family) : family_(std::move(family)) {
  std::visit(CheckSet{}, family_);
}

void Projection::check(std::size_t dimension) const {
  const auto* const box = std::get_if<Box>(&family_);
  if (box != nullptr && box->lower.size() != 1 && box->lower.size() != dimension) {
    throw InvalidParameter("box", std::to_string(box->lower.size()) + " bounds",
                           "1 or " + std::to_string(dimension) + " (the number of coefficients)");
  }
}

void Projection::apply(std::span<double> theta) const {
  std::visit(Apply{theta}, family_);
}

}  // namespace nustream::descent
