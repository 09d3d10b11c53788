// L-BFGS with a line search by halving and doubling. No library function but the square root is used, and sums have
// one order: a fitted correlation has to have the same bits on every machine.
#include "quasi_newton.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <utility>

namespace nustream::privacy::optimised {
namespace {

using Vector = std::vector<double>;

/// How many moves the curvature is estimated from.
constexpr std::size_t memory = 24;

void add(Vector& a, double factor, const Vector& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += factor * b[i];
}

/// One step that was taken: how x moved (`step`) and how the gradient moved (`bend`).
struct Move {
  Vector step;
  Vector bend;
  double curvature;  ///< step · bend > 0
};

class Moves {
 public:
  void remember(Vector step, Vector bend) {
    const double curvature = dot(step, bend);
    // A curvature that is not clearly positive was lost in rounding: it would say nothing, so the move is not
    // kept.
    if (!(curvature > 1e-300)) return;
    if (moves_.size() == memory) moves_.pop_front();
    moves_.push_back({std::move(step), std::move(bend), curvature});
  }
  void forget() { moves_.clear(); }
  [[nodiscard]] bool empty() const { return moves_.empty(); }

  /// The direction −H g, by the two loops of algorithm 7.4.
  [[nodiscard]] Vector direction(const Vector& gradient) const {
    Vector result = gradient;
    Vector weights(moves_.size());
    for (std::size_t i = moves_.size(); i-- > 0;) {
      weights[i] = dot(moves_[i].step, result) / moves_[i].curvature;
      add(result, -weights[i], moves_[i].bend);
    }
    if (!moves_.empty()) {
      // The last move sets the scale of the first guess of H.
      const Move& last = moves_.back();
      const double scale = last.curvature / dot(last.bend, last.bend);
      for (double& entry : result) entry *= scale;
    }
    for (std::size_t i = 0; i < moves_.size(); ++i) {
      const double back = dot(moves_[i].bend, result) / moves_[i].curvature;
      add(result, weights[i] - back, moves_[i].step);
    }
    for (double& entry : result) entry = -entry;
    return result;
  }

 private:
  std::deque<Move> moves_;
};

struct Point {
  Vector x;
  Vector gradient;
  double value;
};

class Search {
 public:
  Search(const Objective& objective, std::size_t most_evaluations)
      : objective_(objective), most_evaluations_(most_evaluations) {}

  [[nodiscard]] Point at(Vector x) {
    ++evaluations_;
    Point point{std::move(x), {}, 0};
    point.gradient.resize(point.x.size());
    point.value = objective_(point.x, point.gradient);
    return point;
  }

  /// Moves `from` along `direction` to a point that satisfies the weak Wolfe conditions. `slope` < 0 is the
  /// derivative along the direction at the start. Returns false where rounding leaves no such point to be found.
  bool along(Point& from, const Vector& direction, double slope, double first) {
    double near = 0;
    double far = std::numeric_limits<double>::infinity();
    double length = first;
    for (int tries = 0; tries < 60 && !exhausted(); ++tries) {
      Vector x = from.x;
      add(x, length, direction);
      Point to = at(std::move(x));
      // Too far: the loss fell by less than a small part of what the slope at the start promises.
      if (!(to.value <= from.value + 1e-4 * length * slope)) {
        far = length;
      } else if (dot(to.gradient, direction) < 0.9 * slope) {
        near = length;
      } else {
        from = std::move(to);
        return true;
      }
      length = far < std::numeric_limits<double>::infinity() ? (near + far) / 2 : 2 * near;
    }
    return false;
  }

  [[nodiscard]] bool exhausted() const { return evaluations_ >= most_evaluations_; }
  [[nodiscard]] std::size_t evaluations() const { return evaluations_; }

 private:
  const Objective& objective_;
  std::size_t most_evaluations_;
  std::size_t evaluations_ = 0;
};

}  // namespace

Minimum minimise(const Objective& objective, std::vector<double> start, const Patience& patience) {
  Search search(objective, patience.evaluations);
  Point point = search.at(std::move(start));
  Moves moves;
  while (!search.exhausted()) {
    Vector direction = moves.direction(point.gradient);
    const double slope = dot(point.gradient, direction);
    if (!(-slope > patience.promise * std::abs(point.value))) break;
    // Without a memory nothing is known of the scale, so the first move is short. With one, a step of 1 is what
    // Newton's method would take.
    const double first = moves.empty() ? std::min(1.0, 0.1 / std::sqrt(dot(direction, direction))) : 1.0;
    Point next = point;
    if (!search.along(next, direction, slope, first)) {
      if (moves.empty()) break;
      // Old moves may be what misleads the direction: forget them once, and go down the gradient instead.
      moves.forget();
      continue;
    }
    Vector step = next.x;
    add(step, -1, point.x);
    Vector bend = next.gradient;
    add(bend, -1, point.gradient);
    moves.remember(std::move(step), std::move(bend));
    point = std::move(next);
  }
  return {std::move(point.x), point.value, search.evaluations()};
}

}  // namespace nustream::privacy::optimised
