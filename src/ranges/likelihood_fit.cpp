// The stages of a logistic or Poisson fit: columns, lengths and a pilot as for a linear fit, then a start, bounds
// about it, and four Newton steps with noisy curvature and score (scores.h). Counts take two further looks: a
// histogram of residuals, as most counts may be alike and a few large, and lengths again before the last step.
#include "nustream/ranges/likelihood_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "inference/symmetric.h"
#include "nustream/base/error.h"
#include "nustream/ranges/rows.h"
#include "ranges/pilot.h"
#include "ranges/residual_tails.h"
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
/// A step from too large a mean of counts is at most 1 long, however far the mean is off. Where the counts' mean is
/// less than this part of the model's, the step leaves more than one of length 1 from too small a mean does.
constexpr double least_settled = 0.4;
/// The mean of counts shows where it is above this many deviations of the pilot's noise.
constexpr double mean_threshold = 2;

/// The bounds are these multiples of what is measured.
constexpr double inputs_widening = 1.5;
constexpr double residuals_widening = 4;
constexpr double curvature_widening = 2;

bool is_allowed(Likelihood likelihood, double target) {
  return likelihood == Likelihood::logistic ? target == 0 || target == 1 : target >= 0;
}

/// The targets in public units, with NaN in place of those that the model cannot have. Their rows are then unusable
/// from the first stage on, as if the number could not be read.
std::vector<double> allowed_targets(Likelihood likelihood, const Table& table) {
  std::vector<double> allowed(table.y.begin(), table.y.end());
  for (double& target : allowed) {
    target *= table.units.exposure;
    if (!is_allowed(likelihood, target)) target = std::numeric_limits<double>::quiet_NaN();
  }
  return allowed;
}

/// A target in its own scale, from the placed one.
double original(const Placement& placement, double placed) {
  return placement.centre + placement.scale * placed;
}

/// A start, θ for placed inputs, and the mean of the target that it stands for.
struct Start {
  Vector theta;
  double mean;
};

/// The start of a model of counts with the same mean everywhere; a mean of 0 is one that is not known yet.
Start constant_start(double mean, Eigen::Index dimension) {
  Vector theta = Vector::Zero(dimension);
  theta(0) = mean > 0 ? std::log(mean) : -largest_predictor;
  return {theta, mean};
}

/// The least mean of counts that the pilot's noise does not hide.
double least_mean(const Pilot& pilot, const TableFit& fit) {
  return mean_threshold * fit.placements.back().scale * pilot.mean_stddev;
}

/// The start: one step of Newton's method from the best constant, by the pilot's least squares. Where the columns
/// show zeros alone, or noise hides the mean, the pilot knows nothing of counts, and their mean is taken for 0 until
/// their tails are known.
Start start_of(Likelihood likelihood, const Pilot& pilot, const TableFit& fit) {
  const Placement& target = fit.placements.back();
  // The first placed input is the intercept's 1, so the first column holds the sums of the inputs.
  const Vector means = pilot.second.col(0) / pilot.second(0, 0);
  double mean = original(target, means.dot(pilot.theta));
  if (likelihood == Likelihood::logistic) {
    mean = std::clamp(mean, 0.003, 0.997);  // noise may have moved it to where no logit exists
  } else if ((fit.is_one_target_seen && fit.intervals.back().is_zero()) || !(mean > least_mean(pilot, fit))) {
    return constant_start(0, pilot.theta.size());
  }
  // A Newton step from the best constant solves Σ w xxᵀ δ = Σ x(y − μ) with the same w in every row, so its slopes
  // are those of least squares divided by w.
  Vector slopes = target.scale * pilot.theta;
  slopes(0) = 0;
  const Matrix spread = pilot.second / pilot.second(0, 0) - means * means.transpose();
  const double length = std::sqrt(std::max(slopes.dot(spread * slopes), 0.0));
  const double constant = likelihood == Likelihood::logistic ? std::log(mean / (1 - mean)) : std::log(mean);
  // The predictors' standard deviation stays within one longest step, where w would make it larger.
  const double steepest = length > 0 ? longest_step / length : std::numeric_limits<double>::infinity();
  Vector theta = std::min(1 / expected(likelihood, constant).weight, steepest) * slopes;
  // The mean predictor is that of the constant.
  theta(0) = constant - means.dot(theta);
  return {theta, mean};
}

/// Where residuals about the start have a larger mean than the start itself, the pilot was bounded by less than half
/// of the counts. Their noisy mean is then a better start. The tails are of residuals times the root of their row's
/// weight, which is divided out by its noisy mean: the same weight in all rows changes nothing. A mean that hides in
/// the tails as well is at most about what hides in the pilot.
void mend(const ResidualTails& tails, const Pilot& pilot, const TableFit& fit, Start& start) {
  const double more = pilot.weight > 0 ? tails.sum() / (fit.usable * tails.rows() * std::sqrt(pilot.weight))
                                       : 0;  // 0: noise hides it
  if (more > start.mean) start = constant_start(start.mean + more, start.theta.size());
  if (start.mean == 0) start = constant_start(least_mean(pilot, fit), start.theta.size());
}

/// What the steps have in common.
struct Steps {
  Likelihood likelihood;
  const FitSettings& settings;
  PartRhos rhos;
  const DrawNoise& draw;
  WorkingRows& rows;
  Placement target;
  Vector constant;  ///< the intercept's own direction: its inner product with every row is 1
  Rho rho;          ///< of all steps together
};

/// The scales of rows about θ. The three lengths are ‖x‖, |y − μ|, and √w·‖x‖, whose square is the norm of a row's
/// curvature.
std::optional<RowScales> measure_about(const Steps& steps, const Part& part, const Vector& theta, KeyStage stage) {
  const auto lengths = [&](const Eigen::Ref<const Vector>& x, double target, std::span<double> found) {
    const Expected at = expected(steps.likelihood, x.dot(theta));
    found[0] = x.norm();
    found[1] = std::fabs(original(steps.target, target) - at.mean);
    found[2] = std::sqrt(at.weight) * found[0];
  };
  return row_scales(measure(steps.rows, part, 3, lengths, steps.settings.at(steps.rhos.lengths), stage, steps.draw));
}

/// Makes one release of the residuals y − μ of counts about θ.
ResidualTails tails_about(const Steps& steps, const Part& part, const Vector& theta, const TableFit& fit, Rho rho,
                          KeyStage stage) {
  const auto residual = [&](const auto& x, double target) {
    return original(steps.target, target) - expected(steps.likelihood, x.dot(theta)).mean;
  };
  const double most = 2 * steps.target.scale * longest_target(fit);
  return residual_tails(steps.rows, part, residual, {most, rho, steps.settings.adjacency, stage}, steps.draw);
}

/// The standard deviation of the noise in the last score for a bound of residuals of 1.
double noise_per_unit(const Steps& steps, double inputs) {
  // The score's Δ is R_x·R_r, twice that under replace-one, and the last step has the last share of ρ.
  const double replaced = steps.settings.adjacency == privacy::Adjacency::replace_one ? 2 : 1;
  return replaced * inputs / std::sqrt(2 * steps.rho.value() * shares.back() * (1 - ScoreSums::curvature_share));
}

/// Whether the bound that follows from the middle scale of residuals would clip the few counts that are not like most
/// others. It then takes off several times the answer's standard deviation.
bool are_mostly_alike(const Steps& steps, const RowScales& scales, const ResidualTails& tails) {
  constexpr double far_off = 3;
  const double bound = residuals_widening * scales.residuals;
  const double noise = noise_per_unit(steps, inputs_widening * scales.inputs);
  return tails.root_mean_square() > mostly_alike * scales.residuals ||
         tails.taken_off(bound) > far_off * tails.deviation(noise, bound);
}

/// The bounds of steps. Where most counts are alike by the residuals in `tails`, their bound is as wide as the noise
/// in the last step allows.
ScoreBounds bounds_of(const Steps& steps, const RowScales& scales, const std::optional<ResidualTails>& tails) {
  const double inputs = inputs_widening * scales.inputs;
  double residuals = residuals_widening * scales.residuals;
  if (steps.likelihood == Likelihood::logistic) {
    // A residual of a label is at most 1, but its row enters with the root of its weight, whatever unit that is in.
    return {inputs, steps.rows.are_weighted() ? residuals : 1, inputs * inputs / 4};
  }
  if (tails && are_mostly_alike(steps, scales, *tails)) {
    const double least = std::max(residuals, residuals_widening * tails->root_mean_square());
    residuals = residual_bound(*tails, {least, noise_per_unit(steps, inputs)});
  }
  return {inputs, residuals, curvature_widening * scales.curvature * scales.curvature};
}

struct NewtonStep {
  Vector change;
  Matrix privacy;     ///< covariance of the end by privacy alone, to first order, with the floored curvature
  Matrix covariance;  ///< the same by sampling and noise, where the model holds
  RarerLabel rarer;   ///< of a logistic model
  double ratio;       ///< of means, in a model of counts
  std::size_t floored;
  Matrix directions;  ///< of the noisy curvature, those that are floored first
};

NewtonStep newton_step(const Steps& steps, const Part& part, const ScoreBounds& bounds, const Vector& theta,
                       std::size_t number) {
  // The shares add up to 1 except for rounding, which must not make the steps cost more than ρ.
  const double share = shares[number];
  const Rho rho{steps.rho.value() * share * (1 - 0x1p-48)};
  const privacy::Neighbours neighbours{steps.settings.adjacency, false, steps.rows.are_of_users()};
  ScoreSums sums(steps.likelihood, bounds, neighbours, rho, theta);
  steps.rows.each(
      part,
      [&](std::span<const double> inputs, double target, double weight) {
        sums.add(Eigen::Map<const Vector>(inputs.data(), theta.size()), original(steps.target, target), weight);
      },
      [&sums] { sums.end_user(); });
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
  const Matrix privacy = inverse * noise * inverse;
  return {change,
          privacy,
          inverse + privacy,
          rarer_label(found, steps.constant),
          ratio_of_means(found, steps.constant),
          static_cast<std::size_t>((spectrum.values.array() < floor).count()),
          spectrum.vectors};
}

/// Fills in θ and its variances, in original units.
void answer(const Steps& steps, const NewtonStep& last, const Vector& theta, const Matrix& whiten, TableFit& fit) {
  fit.floored = last.floored;
  const bool are_labels = steps.likelihood == Likelihood::logistic;
  fit.is_label_hidden = are_labels && !last.rarer.is_seen();
  const bool is_near = last.change.norm() <= longest_settled && (are_labels || last.ratio >= least_settled);
  fit.is_settled = is_near && !fit.is_label_hidden;
  fit.is_target_hidden = fit.is_label_hidden && fit.is_one_target_seen;
  std::vector<Placement> placements = fit.placements;
  placements.back() = {};  // predictors are not targets, and have no scale
  const Matrix to_original = way_back(placements).matrix * whiten;
  fit.undetermined = undetermined(last.directions, last.floored, to_original);
  const Vector found = to_original * theta;
  fit.theta.assign(found.begin(), found.end());
  fit.noise_stddevs = deviations(to_original * last.privacy * to_original.transpose());
  // From here on it is about intervals, which the header promises where nothing is hidden, and for unweighted records
  // of labels alone.
  if (fit.floored > 0 || !are_labels || steps.rows.are_weighted() || steps.rows.are_of_users() || !fit.is_settled)
    return;
  if (last.change.norm() > longest_for_intervals) return;
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
  const auto scales = row_scales(measure(steps.rows, part, 2, lengths, steps.settings.at(steps.rhos.lengths),
                                         KeyStage::first_lengths, steps.draw));
  fit.is_stopped = !scales || scales->counted < hardly_usable;
  if (fit.is_stopped) return false;
  fit.usable = scales->counted;
  fit.usable_stddev = scales->counted_stddev;
  const double residuals =
      steps.likelihood == Likelihood::logistic ? 1 : pilot_slack * pilot_widening * scales->residuals;
  fit.pilot = {pilot_widening * scales->inputs, residuals, pilot_widening};
  return true;
}

/// The parts of the table that the steps read.
struct StepParts {
  Part about_start;  ///< lengths about the start
  Part again;        ///< lengths before the last step, for counts
  Part rest;         ///< the steps, and histograms of residuals
};

/// Takes the steps from `theta`, and fills in the answer. `tails` are the residuals of counts about the start.
void take_steps(Steps steps, const StepParts& parts, Vector theta, std::optional<ResidualTails> tails,
                const Matrix& whiten, TableFit& fit) {
  auto scales = measure_about(steps, parts.about_start, theta, KeyStage::second_lengths);
  // A second histogram is needed before the last step where most counts are alike.
  const double for_tails = tails ? tails_share(fit) : 0;
  const bool are_alike = tails && scales && are_mostly_alike(steps, *scales, *tails);
  // The histograms of residuals and the steps read the same rows, so they share the answer's ρ: the first histogram
  // is paid for already, and the second one, if it comes, is taken off before the steps divide the rest.
  const Rho of_tails{for_tails * steps.rhos.answer.value()};
  steps.rho = Rho{(1 - (are_alike ? 2 : 1) * for_tails) * steps.rhos.answer.value()};
  for (std::size_t number = 0; scales && number < shares.size(); ++number) {
    const bool is_last = number + 1 == shares.size();
    // The residuals of counts depend on the fit, so their bounds are measured once more before the last step. Those
    // of the logistic model are at most 1 anyway.
    if (is_last && steps.likelihood == Likelihood::poisson)
      scales = measure_about(steps, parts.again, theta, KeyStage::third_lengths);
    if (!scales) break;
    if (is_last && are_alike) tails = tails_about(steps, parts.rest, theta, fit, of_tails, KeyStage::last_tails);
    const ScoreBounds bounds = bounds_of(steps, *scales, tails);
    const NewtonStep step = newton_step(steps, parts.rest, bounds, theta, number);
    const double length = step.change.norm();
    // Early steps are shortened, as the quadratic that a step solves says little far away. The last step is taken
    // whole, and the fit says if it was long (is_settled).
    theta += is_last || length <= longest_step ? step.change : Vector(longest_step / length * step.change);
    if (!is_last) continue;
    fit.answer_records = parts.rest.count;
    fit.bounds = {bounds.inputs, bounds.residuals, residuals_widening, bounds.curvature};
    answer(steps, step, theta, whiten, fit);
  }
  fit.is_stopped = !scales;
}

TableFit fit_in_public_units(Likelihood likelihood, const Table& table, const FitSettings& settings,
                             const DrawNoise& draw) {
  NUSTREAM_REQUIRE(table.x.size() == table.features * table.y.size(), "a row for every target");
  NUSTREAM_REQUIRE(table.weights.empty() || table.weights.size() == table.y.size(), "a weight for every row");
  NUSTREAM_REQUIRE(table.users.empty() || table.users.size() == table.y.size(), "a user for every row");
  const bool of_users = !table.users.empty();
  const Sizes parts = sizes({table.records(), table.features + 1, settings.rho, settings.adjacency, of_users});
  const bool are_counts = likelihood == Likelihood::poisson;
  const PartRhos rhos = part_rhos(settings.rho, of_users, are_counts ? 3 : 2);  // counts are measured once more
  const std::vector<double> targets = allowed_targets(likelihood, table);
  const Table allowed{table.features, table.x, targets, table.weights, table.users, table.units};
  TableFit fit;
  Rows rows(allowed);
  place_columns(rows, parts, settings.at(rhos.columns), draw, fit);
  if (fit.is_stopped) return fit;
  if (likelihood == Likelihood::logistic) fit.placements.back() = {0.5, 0.5};  // maps 0 and 1 to −1 and 1
  WorkingRows working(rows, fit);
  Steps steps{likelihood, settings, rhos, draw, working, fit.placements.back(), {}, rhos.answer};
  if (!measure_first(steps, rows.dealer.deal(parts.rows), fit)) return fit;
  const Pilot first = pilot(working, rows.dealer.deal(parts.pilot), settings.at(rhos.pilot), fit.pilot, draw);
  working.whiten(first.whitening.whiten);
  // Whitened inputs are Wx with x_0 = 1, and (W⁻¹e_0)ᵀWx = x_0.
  steps.constant = first.whitening.restore.col(0);
  fit.largest_second = first.largest;
  fit.smallest_second = first.smallest;
  fit.mean_weight = first.weight;
  const auto whitened = [&](const Vector& placed) -> Vector { return first.whitening.restore * placed; };
  Start start = start_of(likelihood, first, fit);
  // `rest` is what no other stage reads. The steps and the histograms of residuals share its ρ.
  StepParts of_steps{rows.dealer.deal(parts.rows), {}, {}};
  if (are_counts) of_steps.again = rows.dealer.deal(parts.rows);
  of_steps.rest = rows.dealer.rest();
  std::optional<ResidualTails> tails;
  if (are_counts) {
    const Rho of_tails{tails_share(fit) * rhos.answer.value()};
    tails = tails_about(steps, of_steps.rest, whitened(start.theta), fit, of_tails, KeyStage::tails);
    const double longest = tails->longest_together() / steps.target.scale;
    fit.is_target_hidden = hides_targets(fit, longest, rhos.pilot, static_cast<double>(parts.pilot));
    fit.is_stopped = fit.is_target_hidden || tails->rows() == 0;
    if (fit.is_stopped) return fit;
    mend(*tails, first, fit, start);
  }
  take_steps(steps, of_steps, whitened(start.theta), std::move(tails), first.whitening.whiten, fit);
  return fit;
}

}  // namespace

TableFit fit_likelihood(Likelihood likelihood, const Table& table, const FitSettings& settings,
                        const DrawNoise& draw) {
  NUSTREAM_REQUIRE(likelihood == Likelihood::poisson || table.units.exposure == 1, "rates of counts alone");
  TableFit fit = fit_in_public_units(likelihood, table, settings, draw);
  to_table_units(table.units, fit);
  return fit;
}

}  // namespace nustream::ranges
