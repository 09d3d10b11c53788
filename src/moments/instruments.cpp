// Two-stage least squares from the reduced form, the effective F, and the Anderson–Rubin set. The set is found over
// angles: β = tan(angle) makes the whole real line with its point at infinity one half turn, on which the statistic
// is continuous. So an interval, the outside of one, and everything are all arcs.
#include "nustream/moments/instruments.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "moments/response_spread.h"
#include "moments/sampling.h"
#include "moments/triangle.h"
#include "nustream/base/error.h"

namespace nustream::moments {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr double negligible = 1e-10;  // relative to the largest pivot

/// Column `response` of θ̂.
Vector column(const Estimate& estimate, const Shape& shape, std::size_t response) {
  return Eigen::Map<const Vector>(estimate.theta.data() + response * shape.inputs,
                                  static_cast<Eigen::Index>(shape.inputs));
}

/// The combination of responses that is one of them.
std::vector<double> alone(const Shape& shape, std::size_t response) {
  std::vector<double> combination(shape.responses());
  combination[response] = 1;
  return combination;
}

void check_controls(const Shape& shape, std::size_t controls) {
  if (shape.endogenous == 0) throw InvalidParameter("endogenous", "0", "at least one regressor");
  if (shape.inputs < controls + shape.endogenous) {
    throw InvalidParameter("controls", std::to_string(controls), "as many instruments beside them as regressors");
  }
}

/// vᵀV⁻¹v over the entries that are no controls; negative where V is not positive definite.
double wald(const Vector& value, const Matrix& covariance, Eigen::Index controls) {
  const Eigen::Index q = value.size() - controls;
  const Eigen::LLT<Matrix> own(covariance.bottomRightCorner(q, q));
  if (own.info() != Eigen::Success) return -1;
  const Vector tail = value.tail(q);
  return tail.dot(own.solve(tail));
}

/// The limit of the statistic by the degrees of freedom of the variance that it is divided by: q·F_{q, m; level}. It
/// is smooth and convex in 1/m, so that a straight line between two knots is never below it.
class Limits {
 public:
  Limits(double instruments, double level) {
    at_.push_back(quantile(complement(boost::math::chi_squared(instruments), 1 - level)));
    for (int knot = 1; knot <= knots; ++knot) {
      const boost::math::fisher_f of(instruments, fewest * knots / knot);
      at_.push_back(instruments * quantile(complement(of, 1 - level)));
    }
  }
  [[nodiscard]] double of(double degrees) const {
    const double place = degrees > fewest ? knots * fewest / degrees : knots;
    const auto knot = std::min(static_cast<std::size_t>(place), at_.size() - 2);
    return at_[knot] + (place - static_cast<double>(knot)) * (at_[knot + 1] - at_[knot]);
  }

 private:
  static constexpr int knots = 8;
  static constexpr double fewest = 8;  // degrees of freedom; with fewer the variance is bounded
  std::vector<double> at_;             // at 1/m = 0, 1/64 … 1/8
};

/// The reduced form along a direction a = (−sin, cos) of an angle: δ(a) = a_x Π̂ + a_y π̂, and its covariance V(a).
/// That of the privacy noise is a_x² P_xx + 2 a_x a_y P_xy + a_y² P_yy.
struct Reduced {
  Vector regressor, target;
  Matrix of_regressor, of_both, of_target;
  ResponseSpread spread;
  Limits limits;
  Eigen::Index controls;

  [[nodiscard]] static Vector direction(double angle) { return Eigen::Vector2d(-std::sin(angle), std::cos(angle)); }
  [[nodiscard]] Matrix covariance(const Vector& a) const {
    return a(0) * a(0) * of_regressor + 2 * a(0) * a(1) * of_both + a(1) * a(1) * of_target + spread.sampling(a);
  }
  /// The statistic at β = tan(angle), as a share of its limit; negative where V is not positive definite.
  [[nodiscard]] double statistic(double angle) const {
    const Vector a = direction(angle);
    return wald(a(0) * regressor + a(1) * target, covariance(a), controls) / limits.of(spread.degrees(a));
  }
};

/// Everything that the statistic needs at any angle. It is computed once, because the search asks at thousands of
/// angles.
std::optional<Reduced> reduced(const RunningSums& sums, const Frame& frame, std::span<const double> covariance,
                               const Estimate& estimate, std::size_t controls, StepCount steps, double level) {
  const auto of = [&](double x, double y) {
    return privacy_of(sums, frame, covariance, estimate, std::vector<double>{x, y});
  };
  // Covariances are quadratic in the weights, so that of both together gives the one between them: V(1, 1) =
  // V_xx + 2V_xy + V_yy.
  const auto regressor = of(1, 0);
  const auto target = of(0, 1);
  const auto both = of(1, 1);
  auto spread = response_spread(sums, frame, covariance, estimate, steps);
  if (!regressor || !target || !both || !spread) return std::nullopt;
  const Shape& shape = frame.design.shape;
  return Reduced{column(estimate, shape, 0),
                 column(estimate, shape, 1),
                 *regressor,
                 (*both - *regressor - *target) / 2,
                 *target,
                 *std::move(spread),
                 Limits(static_cast<double>(shape.inputs - controls), level),
                 static_cast<Eigen::Index>(controls)};
}

/// The angle φ' at which aᵀMa/aᵀSa is least. With a = L⁻ᵀb, S = LLᵀ and b = (−sin φ, cos φ), the ratio is ½(tr +
/// (N_yy − N_xx) cos 2φ − 2N_xy sin 2φ).
double least_ratio(const Eigen::Matrix2d& lengths, const Eigen::Matrix2d& spreads) {
  const Eigen::LLT<Eigen::Matrix2d> root(spreads);
  const Eigen::Matrix2d half = root.matrixL().solve(lengths);
  const Eigen::Matrix2d whole = root.matrixL().solve(half.transpose());
  const double turned = std::atan2(2 * whole(0, 1), whole(0, 0) - whole(1, 1)) / 2;
  const Eigen::Vector2d a = root.matrixU().solve(Eigen::Vector2d(-std::sin(turned), std::cos(turned)));
  return std::atan2(-a(0), a(1));
}

/// A first guess of the angle at which the statistic is least. It is exact where V(a) is a multiple of one matrix, as
/// sampling alone would make it.
std::optional<double> guessed_angle(const Reduced& reduced) {
  const Eigen::Index q = reduced.target.size() - reduced.controls;
  const auto own = [&](double x, double y) -> Matrix {
    return reduced.covariance(Eigen::Vector2d(x, y)).bottomRightCorner(q, q);
  };
  const Matrix of_target = own(0, 1);
  const Matrix of_regressor = own(1, 0);
  const Eigen::LLT<Matrix> metric(of_target);
  if (metric.info() != Eigen::Success) return std::nullopt;
  Matrix both(q, 2);
  both << reduced.regressor.tail(q), reduced.target.tail(q);
  const auto size = static_cast<double>(q);
  double beside = metric.solve((own(1, 1) - own(1, -1)) / 4).trace() / size;
  const double alone = metric.solve(of_regressor).trace() / size;
  if (!(alone > beside * beside)) beside = 0;  // noise made the spread indefinite, and this is a guess
  Eigen::Matrix2d spreads;
  spreads << alone, beside, beside, 1;
  return least_ratio(both.transpose() * metric.solve(both), spreads);
}

/// Finds where acceptance changes between an angle that is accepted and one that is not, by halving.
double boundary(const Reduced& reduced, double accepted, double rejected) {
  // Sixty halvings leave less than the spacing of doubles of any stretch of half a turn.
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = (accepted + rejected) / 2;
    (reduced.statistic(middle) <= 1 ? accepted : rejected) = middle;
  }
  return accepted;
}

/// Angles from half a turn before the best one to half a turn after it. They lie closer together the nearer they are
/// to it.
std::vector<double> angles_about(double best) {
  constexpr int octaves = 40;
  constexpr int in_an_octave = 8;
  std::vector<double> angles;
  for (int i = 0; i <= octaves * in_an_octave; ++i) {
    const double away = std::numbers::pi / 2 * std::exp2(-static_cast<double>(i) / in_an_octave);
    angles.push_back(best - away);
    angles.push_back(best + away);
  }
  angles.push_back(best);
  std::ranges::sort(angles);
  return angles;
}

/// The guess, moved three times to the least statistic of the scan about it.
double improved(const Reduced& reduced, double angle) {
  for (int round = 0; round < 3; ++round) {
    angle = std::ranges::min(angles_about(angle), {}, [&](double at) { return reduced.statistic(at); });
  }
  return angle;
}

/// The scan of angles_about() over one half turn from the best angle on, in order. After half a turn β = tan(angle)
/// is back where it was.
std::vector<double> half_turn(double best) {
  const std::vector<double> angles = angles_about(best);
  const auto middle = std::ranges::find(angles, best);
  std::vector<double> turn(middle, angles.end());
  for (auto angle = angles.begin(); angle <= middle; ++angle) turn.push_back(*angle + std::numbers::pi);
  return turn;
}

/// The longest rejected stretch of a turn whose ends are accepted: the accepted angles beside it, and the rejected
/// angles next to them. Empty where all angles are accepted.
struct Stretch {
  double accepted_before, begin, end, accepted_behind;
};
std::optional<Stretch> longest_rejected(const Reduced& reduced, const std::vector<double>& turn) {
  std::optional<Stretch> longest;
  std::size_t accepted = 0;
  for (std::size_t i = 1; i < turn.size(); ++i) {
    if (reduced.statistic(turn[i]) > 1 && i + 1 < turn.size()) continue;
    const bool longer = !longest || turn[i] - turn[accepted] > longest->accepted_behind - longest->accepted_before;
    if (i > accepted + 1 && longer) longest = {turn[accepted], turn[accepted + 1], turn[i - 1], turn[i]};
    accepted = i;
  }
  return longest;
}

}  // namespace

std::optional<std::vector<double>> two_stage_least_squares(const NormalEquations& sums,
                                                           const FlooredSolution& reduced, std::size_t controls) {
  if (sums.columns() < 1) throw InvalidParameter("sums", "no target", "the moments of a target");
  check_controls({sums.dimension, sums.columns() - 1}, controls);
  if (reduced.floored > 0) return std::nullopt;
  const auto d = static_cast<Eigen::Index>(sums.dimension);
  const auto exogenous = static_cast<Eigen::Index>(controls);
  const auto endogenous = static_cast<Eigen::Index>(sums.columns()) - 1;
  const Eigen::Map<const Matrix> columns(reduced.theta.data(), d, endogenous + 1);
  // A = [unit vectors of the controls, Π̂]: controls stand for themselves in both stages.
  Matrix fitted = Matrix::Zero(d, exogenous + endogenous);
  fitted.topLeftCorner(exogenous, exogenous).setIdentity();
  fitted.rightCols(endogenous) = columns.leftCols(endogenous);
  const Matrix metric = fitted.transpose() * full_matrix(sums.second, sums.dimension);
  const Matrix normal = metric * fitted;
  const Eigen::LDLT<Matrix> solver(normal);
  const Vector pivots = solver.vectorD();
  // A NaN among the pivots fails the comparison, too.
  if (!(pivots.minCoeff() > negligible * pivots.maxCoeff())) return std::nullopt;
  const Vector beta = solver.solve(metric * columns.col(endogenous));
  return std::vector<double>(beta.data(), beta.data() + beta.size());
}

std::optional<Structural> structural(const RunningSums& sums, const Frame& frame, std::span<const double> covariance,
                                     const Estimate& estimate, std::size_t controls, StepCount steps) {
  const Shape& shape = frame.design.shape;
  check_controls(shape, controls);
  const auto beta = two_stage_least_squares(combined(frame.design, sums.stages(), estimate.weights),
                                            {estimate.theta, estimate.floored, {}}, controls);
  if (!beta) return std::nullopt;
  Structural found{*beta};
  const auto spread = response_spread(sums, frame, covariance, estimate, steps);
  if (!spread) return found;
  for (std::size_t k = 0; k < shape.endogenous; ++k) {
    const std::vector<double> weights = alone(shape, k);
    const Eigen::Map<const Vector> a(weights.data(), static_cast<Eigen::Index>(weights.size()));
    const auto privacy = privacy_of(sums, frame, covariance, estimate, weights);
    if (!privacy) return Structural{*beta};
    const double statistic =
        wald(column(estimate, shape, k), *privacy + spread->sampling(a), static_cast<Eigen::Index>(controls));
    // β needs no covariance. Where one is missing, β is given without any F rather than with some of them.
    if (!(statistic >= 0)) return Structural{*beta};
    found.effective_f.push_back(statistic / static_cast<double>(shape.inputs - controls));
    found.bounded = found.bounded || spread->is_bounded(a);
  }
  return found;
}

std::vector<double> reduced_form(const Shape& shape, std::size_t controls, std::span<const double> parameters) {
  check_controls(shape, controls);
  const std::size_t second = controls + shape.endogenous;
  const std::size_t first = shape.inputs * shape.endogenous;
  if (parameters.size() != second + first) {
    throw InvalidParameter("parameters", std::to_string(parameters.size()), "both stages' coefficients");
  }
  const std::span<const double> beta = parameters.first(second);
  std::vector<double> reduced(parameters.begin() + static_cast<std::ptrdiff_t>(second), parameters.end());
  for (std::size_t j = 0; j < shape.inputs; ++j) {
    double of_target = j < controls ? beta[j] : 0;
    for (std::size_t k = 0; k < shape.endogenous; ++k)
      of_target += reduced[k * shape.inputs + j] * beta[controls + k];
    reduced.push_back(of_target);
  }
  return reduced;
}

std::optional<AndersonRubinSet> anderson_rubin(const RunningSums& sums, const Frame& frame,
                                               std::span<const double> covariance, const Estimate& estimate,
                                               std::size_t controls, StepCount steps, double level) {
  const Shape& shape = frame.design.shape;
  check_controls(shape, controls);
  if (shape.endogenous != 1) {
    throw InvalidParameter("endogenous", std::to_string(shape.endogenous), "one regressor");
  }
  const bool is_share = level > 0 && level < 1;  // and a number
  if (!is_share) throw InvalidParameter("level", std::to_string(level), "a number between 0 and 1");
  const auto known = reduced(sums, frame, covariance, estimate, controls, steps, level);
  if (!known) return std::nullopt;
  const auto guess = guessed_angle(*known);
  if (!guess) return std::nullopt;
  const double best = improved(*known, *guess);
  if (!(known->statistic(best) >= 0)) return std::nullopt;
  using Kind = AndersonRubinSet::Kind;
  const auto is_bounded = [&](double angle) { return known->spread.is_bounded(Reduced::direction(angle)); };
  // The least statistic is rejected, so every β is.
  if (known->statistic(best) > 1) return AndersonRubinSet{Kind::empty, 0, 0, is_bounded(best)};
  const auto rejected = longest_rejected(*known, half_turn(best));
  if (!rejected) return AndersonRubinSet{Kind::everything, 0, 0, is_bounded(best)};
  // The accepted arc begins behind the rejected stretch and goes round to where the stretch begins.
  const double last = boundary(*known, rejected->accepted_before, rejected->begin);
  const double first = boundary(*known, rejected->accepted_behind, rejected->end);
  const double upper = std::tan(last);
  const double lower = std::tan(first);
  // The accepted arc runs from `lower` on to `upper`. If it falls on the way, it passes through β = ∞.
  return AndersonRubinSet{lower <= upper ? Kind::interval : Kind::outside, std::min(lower, upper),
                          std::max(lower, upper), is_bounded(best) || is_bounded(first) || is_bounded(last)};
}

}  // namespace nustream::moments
