// Predicts a descent along each group of equal eigenvalues. What is left of the start is followed step by step over a
// grid whose cells grow (StartFollower), as the pull of clipped gradients changes on the way. Noise and sampling are
// computed as if all steps had the pull at the end. Pull and noise depend on each other through the size of
// residuals, so they are computed in rounds.
#include "nustream/inference/expected_error.h"

#include <boost/math/distributions/gamma.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "inference/symmetric.h"
#include "nustream/base/error.h"
#include "nustream/inference/average_noise.h"

namespace nustream::inference {
namespace {

/// One group of equal eigenvalues.
struct Direction {
  double eigenvalue;
  double count;
  double start;          ///< (θ* − θ_0)_j² in each direction of the group
  double left = 1;       ///< share of the start that is left in the last iterate
  double left_mean = 1;  ///< the same share in the average
  double noise_last = 0;
  double sampling_last = 0;
  double noise_average = 0;
  double sampling_average = 0;
};

/// What clipping does to residuals of deviation s: the share of the pull that is left, and the variance of the
/// clipped gradient along an eigenvector, in units of its eigenvalue.
struct Clipping {
  double pull;
  double variance;
};

/// A gradient r·x is clipped where |r|‖x‖ > G, so a row of length ‖x‖ bounds its residual by G/‖x‖. Long rows pull
/// more: each counts with its squared length.
Clipping clipping_at(double s, double clip, const std::vector<double>& norms) {
  double kept = 0;
  double variance = 0;
  double all = 0;
  for (const double squared : norms) {
    const double bound = clip / std::sqrt(squared);  // bound on the residual
    kept += squared * kept_share(s, bound);
    variance += squared * clipped_variance(s, bound);
    all += squared;
  }
  return {kept / all, variance / all};
}

/// Follows what is left of the start over a geometric grid of steps.
class StartFollower {
 public:
  StartFollower(const StreamGuess& guess, const DescentDesign& design, const std::vector<double>& norms)
      : guess_(guess), design_(design), norms_(norms) {}

  // Sets what is left of the start, in the last iterate and in the average.
  void follow(std::vector<Direction>& directions) const {
    const AverageOver& over = design_.over;
    for (Direction& direction : directions) {
      direction.left = 1;
      direction.left_mean = 0;
    }
    double weight = 0;
    for (std::uint64_t at = 0; at < over.steps;) {
      // A cell ends where the average begins.
      const std::uint64_t stop = at < over.from ? over.from : over.steps;
      // Cells of a sixteenth of the steps so far: within one the pull hardly changes, and a stream of any length has
      // a few hundred of them.
      const std::uint64_t next = std::min(stop, at + std::max<std::uint64_t>(1, at / 16));
      take(directions, at, next, at >= over.from, weight);
      at = next;
    }
    for (Direction& direction : directions) direction.left_mean /= weight;
  }

  /// The deviation s of residuals at present, from the residual itself and from what the iterate adds.
  [[nodiscard]] double deviation(const std::vector<Direction>& directions) const {
    double variance = guess_.residual * guess_.residual;
    for (const Direction& each : directions) {
      const double square = each.start * each.left * each.left + each.noise_last + each.sampling_last;
      variance += each.count * each.eigenvalue * square;
    }
    return std::sqrt(variance);
  }

 private:
  // Takes the steps of one cell under the pull that residuals of the present size leave.
  void take(std::vector<Direction>& directions, std::uint64_t at, std::uint64_t next, bool averaged,
            double& weight) const {
    const double pull = clipping_at(deviation(directions), design_.clip.value(), norms_).pull;
    const auto steps = static_cast<double>(next - at);
    // The weights that these iterates would have if the average ended here; those before fade.
    const double decay = design_.over.decay;
    const double fade = std::pow(decay, steps);
    const double weights = decay == 1 ? steps : (1 - fade) / (1 - decay);
    for (Direction& each : directions) {
      // A step that goes beyond the minimum counts as one that reaches it.
      const double kept = std::max(0.0, 1 - design_.step_size.value() * pull * each.eigenvalue);
      const double left = each.left * std::pow(kept, steps);
      // The mean of a geometric decline between two steps. It is accurate enough for cells of a sixteenth.
      const double ratio = each.left > 0 ? left / each.left : 1;
      const double mean = ratio > 0.999
                              ? 0.5 * (left + each.left)
                              : each.left * (1 - ratio) / std::max(-std::log(std::max(ratio, 1e-300)), 1e-12);
      if (averaged) each.left_mean = each.left_mean * fade + mean * weights;
      each.left = left;
    }
    if (averaged) weight = weight * fade + weights;
  }

  const StreamGuess& guess_;
  const DescentDesign& design_;
  const std::vector<double>& norms_;
};

/// Adds what sampling and privacy leave, under the pull at the end.
void add_sampling_and_noise(const DescentDesign& design, const Clipping& clipping, Direction& direction) {
  const AverageOver& over = design.over;
  const double curvature = clipping.pull * direction.eigenvalue;
  const AveragedDescent last{design.step_size.value(), curvature, over.steps - 1, over.steps};
  const AveragedDescent mean{design.step_size.value(), curvature, over.from, over.steps, over.decay};
  const noise::Correlation white{noise::Independent{}};
  // Records are independent, so sampling is white noise in the gradients. Privacy noise has the correlation of the
  // design.
  const double sampling = clipping.variance * direction.eigenvalue / static_cast<double>(design.minibatch);
  const double privacy = design.stddev.value() * design.stddev.value();
  direction.noise_last = privacy * averaged_noise_variance(design.correlation, last);
  direction.sampling_last = sampling * averaged_noise_variance(white, last);
  direction.noise_average = privacy * averaged_noise_variance(design.correlation, mean);
  direction.sampling_average = sampling * averaged_noise_variance(white, mean);
}

constexpr double infinite = std::numeric_limits<double>::infinity();

}  // namespace

double ExpectedError::root() const noexcept {
  return std::sqrt(total());
}

void check(const StreamGuess& guess) {
  const auto refuse = [](const char* name, double value) {
    throw InvalidParameter(name, std::to_string(value), "a finite number > 0");
  };
  if (guess.eigenvalues.empty()) throw InvalidParameter("eigenvalues", "none", "one for each coefficient");
  for (const double value : guess.eigenvalues) {
    if (!(value > 0) || !std::isfinite(value)) refuse("eigenvalues", value);
  }
  if (!(guess.residual > 0) || !std::isfinite(guess.residual)) refuse("residual", guess.residual);
  if (!(guess.distance >= 0) || !std::isfinite(guess.distance)) refuse("distance", guess.distance);
}

std::vector<double> squared_row_norms(const StreamGuess& guess) {
  double mean = 0;
  double variance = 0;
  for (const double value : guess.eigenvalues) {
    mean += value;
    variance += 2 * value * value;
  }
  // The squared norm is taken to have a gamma distribution of the same mean and variance, Σ λ and 2 Σ λ².
  const boost::math::gamma_distribution<> norms(mean * mean / variance, variance / mean);
  constexpr std::size_t count = 48;
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    // The middle of each of `count` equally likely slices.
    values[i] = quantile(norms, (static_cast<double>(i) + 0.5) / count);
  }
  return values;
}

double kept_share(double s, double bound) {
  return std::erf(bound / (s * std::numbers::sqrt2));
}

double clipped_variance(double s, double bound) {
  const double at = bound / s;
  // E[ε²; |ε| < bound], and beside it bound² times P(|ε| ≥ bound).
  const double inside =
      std::erf(at / std::numbers::sqrt2) - std::sqrt(2 / std::numbers::pi) * at * std::exp(-at * at / 2);
  return s * s * inside + bound * bound * std::erfc(at / std::numbers::sqrt2);
}

DescentErrors expected_errors(const StreamGuess& guess, const DescentDesign& design) {
  check(guess);
  if (design.over.steps <= design.over.from) {
    throw InvalidParameter("steps", std::to_string(design.over.steps), "more than the average's first");
  }
  const std::vector<double> norms = squared_row_norms(guess);
  std::vector<Direction> directions;
  const double each = guess.distance * guess.distance / static_cast<double>(guess.eigenvalues.size());
  for (const EigenvalueGroup& group : groups_of(guess.eigenvalues)) {
    directions.push_back({group.eigenvalue, group.count, each});
  }
  const StartFollower follower(guess, design, norms);
  // The rounds repeat because residuals contain what the noise does to the iterate, while the pull on that noise
  // depends on the residuals.
  constexpr int rounds = 6;
  double before = 0;
  for (int round = 0; round < rounds; ++round) {
    follower.follow(directions);
    const double deviation = follower.deviation(directions);
    if (std::abs(deviation - before) < 0.005 * deviation) break;
    before = deviation;
    const Clipping clipping = clipping_at(deviation, design.clip.value(), norms);
    for (Direction& direction : directions) {
      // Beyond 2 a step overshoots by more than it corrects.
      const bool settles = design.step_size.value() * clipping.pull * direction.eigenvalue < 2;
      if (!settles) return {{infinite, 0, 0}, {infinite, 0, 0}};
      add_sampling_and_noise(design, clipping, direction);
    }
  }
  DescentErrors errors{{0, 0, 0}, {0, 0, 0}};
  for (const Direction& direction : directions) {
    const double weight = direction.count * direction.eigenvalue;
    errors.last.start += weight * direction.start * direction.left * direction.left;
    errors.last.sampling += weight * direction.sampling_last;
    errors.last.privacy += weight * direction.noise_last;
    errors.average.start += weight * direction.start * direction.left_mean * direction.left_mean;
    errors.average.sampling += weight * direction.sampling_average;
    errors.average.privacy += weight * direction.noise_average;
  }
  return errors;
}

}  // namespace nustream::inference
