// Minimises over columns that fall. Where participations meet, the sensitivity of a Toeplitz encoder is known for
// such columns only, so a free search could leave the set for which its loss is true.
#include "quasi_newton.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace nustream::privacy::optimised {
namespace {

using Vector = std::vector<double>;

/// The line search is not monotone: the loss may rise above its last value, but not above the largest of this many
/// last values.
constexpr std::size_t looked_back = 10;

/// The vector a + factor·b.
Vector moved(const Vector& a, double factor, const Vector& b) {
  Vector sum = a;
  for (std::size_t i = 0; i < a.size(); ++i) sum[i] += factor * b[i];
  return sum;
}

}  // namespace

void make_falling(std::vector<double>& x) {
  struct Stretch {
    double sum;
    std::size_t size;
    [[nodiscard]] double mean() const { return sum / static_cast<double>(size); }
  };
  std::vector<Stretch> stretches;
  for (const double entry : x) {
    Stretch next{entry, 1};
    // A stretch that would rise is merged with the one before, until all means fall.
    while (!stretches.empty() && stretches.back().mean() <= next.mean()) {
      next = {stretches.back().sum + next.sum, stretches.back().size + next.size};
      stretches.pop_back();
    }
    stretches.push_back(next);
  }
  auto entry = x.begin();
  for (const Stretch& stretch : stretches) {
    entry = std::fill_n(entry, stretch.size, std::max(0.0, stretch.mean()));
  }
}

Minimum minimise_falling(const Objective& objective, std::vector<double> start, const Patience& patience) {
  make_falling(start);
  Vector x = std::move(start);
  Vector gradient(x.size());
  double value = objective(x, gradient);
  Minimum best{x, value, 1};
  std::array<double, looked_back> recent;
  recent.fill(value);
  // The first length is a guess; later ones follow from the curvature.
  double length = 1e-3 / value;
  for (std::size_t move = 0; best.evaluations < patience.evaluations; ++move) {
    // A step down the gradient, projected onto the falling columns, gives the direction. All points between x and the
    // target fall too, as the falling columns are a convex set.
    Vector target = moved(x, -length, gradient);
    make_falling(target);
    const Vector direction = moved(target, -1, x);
    const double slope = dot(gradient, direction);
    if (!(-slope > patience.promise * value)) break;
    const double ceiling = *std::max_element(recent.begin(), recent.end());
    Vector next;
    Vector next_gradient(x.size());
    double next_value = 0;
    double part = 2;
    do {
      part /= 2;
      next = moved(x, part, direction);
      next_value = objective(next, next_gradient);
      ++best.evaluations;
    } while (!(next_value <= ceiling + 1e-4 * part * slope) && part > 1e-10);
    if (!(next_value <= ceiling)) break;
    // The length of Barzilai and Borwein, sᵀs/sᵀy. Where the curvature along the step is not positive it says
    // nothing, and a long step is tried.
    const Vector step = moved(next, -1, x);
    const double curvature = dot(step, moved(next_gradient, -1, gradient));
    length = curvature > 0 ? dot(step, step) / curvature : 1e3 / value;
    x = std::move(next);
    gradient = std::move(next_gradient);
    value = next_value;
    recent[move % looked_back] = value;
    if (value < best.value) {
      best.value = value;
      best.x = x;
    }
  }
  // The minimum is a convex combination of falling columns, which falls except for rounding. This removes the
  // rounding.
  make_falling(best.x);
  return best;
}

}  // namespace nustream::privacy::optimised
