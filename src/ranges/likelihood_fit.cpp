#include "nustream/ranges/likelihood_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "inference/symmetric.h"
#include "nustream/base/error.h"
#include "nustream/ranges/rows.h"
#include "ranges/pilot.h"
#include "ranges/scores.h"

namespace nustream::ranges {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// The steps' shares of ρ, over the same rows. Early steps only have to come near; the last one gives the answer.
constexpr std::array shares{0.05, 0.1, 0.2, 0.65};
constexpr std::array<std::array<KeyStage, 2>, 4> step_stages{{{KeyStage::first_curvature, KeyStage::first_score},
                                                              {KeyStage::second_curvature, KeyStage::second_score},
                                                              {KeyStage::third_curvature, KeyStage::third_score},
                                                              {KeyStage::last_curvature, KeyStage::last_score}}};
/// The longest step, and the longest last step of a settled fit, in whitened coordinates. A change δ there moves
/// predictors by about ‖δ‖.
constexpr double longest_step = 2;
constexpr double longest_settled = 1;

/// The bounds are these multiples of what is measured.
constexpr double inputs_widening = 1.5;
constexpr double residuals_widening = 4;
constexpr double curvature_widening = 2;

bool is_allowed(Likelihood likelihood, double target) {
  return likelihood == Likelihood::logistic ? target == 0 || target == 1 : target >= 0;
}

std::vector<double> allowed_targets(Likelihood likelihood, std::span<const double> targets) {
  std::vector<double> allowed(targets.begin(), targets.end());
  for (double& target : allowed) {
    if (!is_allowed(likelihood, target)) target = std::numeric_limits<double>::quiet_NaN();
  }
  return allowed;
}

/// A target in its own scale, from the placed one.
double original(const Placement& placement, double placed) {
  return placement.centre + placement.scale * placed;
}

/// The start, θ for placed inputs: one step of Newton's method from the best constant, by the pilot's least squares.
Vector start_of(Likelihood likelihood, const Pilot& pilot, const Placement& target) {
  const Vector means = pilot.second.col(0) / pilot.second(0, 0);
  double mean = original(target, means.dot(pilot.theta));
  // Noise may have moved the mean out of the range in which its logit or its logarithm exists.
  mean = likelihood == Likelihood::logistic ? std::clamp(mean, 0.003, 0.997) : std::max(mean, 1e-3);
  Vector slopes = target.scale * pilot.theta;
  slopes(0) = 0;
  const Matrix spread = pilot.second / pilot.second(0, 0) - means * means.transpose();
  const double length = std::sqrt(std::max(slopes.dot(spread * slopes), 0.0));
  const double constant = likelihood == Likelihood::logistic ? std::log(mean / (1 - mean)) : std::log(mean);
  const double steepest = length > 0 ? longest_step / length : std::numeric_limits<double>::infinity();
  Vector theta = std::min(1 / expected(likelihood, constant).weight, steepest) * slopes;
  theta(0) = constant - means.dot(theta);
  return theta;
}

/// What the steps have in common.
struct Steps {
  Likelihood likelihood;
  const FitSettings& settings;
  const DrawNoise& draw;
  WorkingRows& rows;
  Placement target;
};

std::optional<RowScales> measure_about(const Steps& steps, const Part& part, const Vector& theta, KeyStage stage) {
  const auto lengths = [&](const Eigen::Ref<const Vector>& x, double target, std::span<double> found) {
    const Expected at = expected(steps.likelihood, x.dot(theta));
    found[0] = x.norm();
    found[1] = std::fabs(original(steps.target, target) - at.mean);
    found[2] = std::sqrt(at.weight) * found[0];
  };
  return row_scales(measure(steps.rows, part, 3, lengths, steps.settings, stage, steps.draw));
}

ScoreBounds bounds_of(Likelihood likelihood, const RowScales& scales) {
  const double inputs = inputs_widening * scales.inputs;
  if (likelihood == Likelihood::logistic) return {inputs, 1, inputs * inputs / 4};
  return {inputs, residuals_widening * scales.residuals, curvature_widening * scales.curvature * scales.curvature};
}

struct NewtonStep {
  Vector change;
  Matrix covariance;  ///< covariance of the end by sampling and noise, where the model holds and nothing is floored
  std::size_t floored;
  Matrix directions;  ///< of the noisy curvature, those that are floored first
};

NewtonStep newton_step(const Steps& steps, const Part& part, const ScoreBounds& bounds, const Vector& theta,
                       std::size_t number) {
  // The shares add up to 1 except for rounding, which must not make the steps cost more than ρ.
  const double share = shares[number];
  const Rho rho{steps.settings.rho.value() * share * (1 - 0x1p-48)};
  ScoreSums sums(steps.likelihood, bounds, steps.settings.adjacency, rho, theta);
  steps.rows.each(part, [&](std::span<const double> inputs, double target, double weight) {
    sums.add(Eigen::Map<const Vector>(inputs.data(), theta.size()), original(steps.target, target), weight);
  });
  const ScoreSums::Released found = sums.release(steps.draw, step_stages[number][0], step_stages[number][1]);
  const inference::SymmetricSpectrum spectrum = inference::symmetric_spectrum(found.curvature);
  NUSTREAM_REQUIRE(spectrum.converged, "a curvature has eigenvalues");
  const double tau = found.curvature_stddev;
  // √(2d) τ is the spectral norm of the curvature's noise, the edge of the semicircle law. An eigenvalue below it may
  // be noise alone.
  const double floor = std::sqrt(2 * static_cast<double>(theta.size())) * tau;
  const Vector values = spectrum.values.array().max(floor);
  const Matrix inverse = spectrum.with(values.cwiseInverse());
  const Vector change = inverse * found.score;
  const double of_score = found.score_stddev * found.score_stddev;
  // The noise N of the curvature moves the step c by the inverse times N c, and Cov(N c) = ½τ²(‖c‖² I + ccᵀ)
  // (nustream/moments/gap_noise.h).
  const Matrix noise =
      (of_score + tau * tau / 2 * change.squaredNorm()) * Matrix::Identity(theta.size(), theta.size()) +
      tau * tau / 2 * change * change.transpose();
  return {change, inverse + inverse * noise * inverse,
          static_cast<std::size_t>((spectrum.values.array() < floor).count()), spectrum.vectors};
}

/// Fills in θ and its variances, in original units.
void answer(const Steps& steps, const NewtonStep& last, const Vector& theta, const Matrix& whiten, TableFit& fit) {
  fit.floored = last.floored;
  fit.is_settled = last.change.norm() <= longest_settled;
  std::vector<Placement> placements = fit.placements;
  placements.back() = {};  // predictors are not targets, and have no scale
  const Matrix to_original = way_back(placements).matrix * whiten;
  fit.undetermined = undetermined(last.directions, last.floored, to_original);
  const Vector found = to_original * theta;
  fit.theta.assign(found.begin(), found.end());
  const bool is_withheld = steps.likelihood == Likelihood::poisson || steps.rows.are_weighted();
  if (is_withheld || fit.floored > 0 || !fit.is_settled) return;
  const Matrix covariance = to_original * last.covariance * to_original.transpose();
  for (Eigen::Index j = 0; j < theta.size(); ++j) {
    fit.variances.push_back({covariance(j, j), std::numeric_limits<double>::infinity()});
  }
}

/// Measures lengths before the pilot. Returns false where the fit stops.
bool measure_first(const Steps& steps, const Part& part, TableFit& fit) {
  const auto lengths = [](const Eigen::Ref<const Vector>& x, double target, std::span<double> found) {
    found[0] = x.norm();
    found[1] = std::fabs(target);
  };
  const auto scales =
      row_scales(measure(steps.rows, part, 2, lengths, steps.settings, KeyStage::first_lengths, steps.draw));
  fit.is_stopped = !scales || scales->counted < hardly_usable;
  if (fit.is_stopped) return false;
  fit.usable = scales->counted;
  const double residuals =
      steps.likelihood == Likelihood::logistic ? 1 : pilot_slack * pilot_widening * scales->residuals;
  fit.pilot = {pilot_widening * scales->inputs, residuals, pilot_widening};
  return true;
}

}  // namespace

TableFit fit_likelihood(Likelihood likelihood, const Table& table, const FitSettings& settings,
                        const DrawNoise& draw) {
  NUSTREAM_REQUIRE(table.x.size() == table.features * table.y.size(), "a row for every target");
  NUSTREAM_REQUIRE(table.weights.empty() || table.weights.size() == table.y.size(), "a weight for every row");
  const Sizes parts = sizes({table.records(), table.features + 1, settings.rho, settings.adjacency});
  const std::vector<double> targets = allowed_targets(likelihood, table.y);
  const Table allowed{table.features, table.x, targets, table.weights};
  TableFit fit;
  Rows rows(allowed);
  place_columns(rows, parts, settings, draw, fit);
  if (fit.is_stopped) return fit;
  if (likelihood == Likelihood::logistic) fit.placements.back() = {0.5, 0.5};  // maps 0 and 1 to −1 and 1
  WorkingRows working(rows, fit);
  const Steps steps{likelihood, settings, draw, working, fit.placements.back()};
  if (!measure_first(steps, rows.dealer.deal(parts.rows), fit)) return fit;
  const Pilot first = pilot(working, rows.dealer.deal(parts.pilot), settings, fit.pilot, draw);
  working.whiten(first.whitening.whiten);
  fit.largest_second = first.largest;
  fit.smallest_second = first.smallest;
  Vector theta = first.whitening.restore * start_of(likelihood, first, fit.placements.back());
  auto scales = measure_about(steps, rows.dealer.deal(parts.rows), theta, KeyStage::second_lengths);
  // The residuals of counts depend on the fit, so their bounds are measured once more before the last step. Those of
  // the logistic model are at most 1 anyway.
  const bool is_measured_again = likelihood == Likelihood::poisson;
  const Part again = is_measured_again ? rows.dealer.deal(parts.rows) : Part{};
  const Part rest = rows.dealer.rest();
  for (std::size_t number = 0; scales && number < shares.size(); ++number) {
    const bool is_last = number + 1 == shares.size();
    if (is_last && is_measured_again) scales = measure_about(steps, again, theta, KeyStage::third_lengths);
    if (!scales) break;
    const ScoreBounds bounds = bounds_of(likelihood, *scales);
    const NewtonStep step = newton_step(steps, rest, bounds, theta, number);
    const double length = step.change.norm();
    theta += is_last || length <= longest_step ? step.change : Vector(longest_step / length * step.change);
    if (!is_last) continue;
    fit.answer_records = rest.count;
    fit.bounds = {bounds.inputs, bounds.residuals, residuals_widening, bounds.curvature};
    answer(steps, step, theta, first.whitening.whiten, fit);
  }
  fit.is_stopped = !scales;
  return fit;
}

}  // namespace nustream::ranges
