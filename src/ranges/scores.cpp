// Curvature and score of a likelihood, row by row: a row's weight and clip bound what it adds, entries are truncated
// to a grid, and the sums get their noise when they are released. Where the unit is the user, UserSums shortens what
// a user's rows add up to first.
#include "ranges/scores.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "descent/private_step.h"
#include "moments/triangle.h"
#include "nustream/base/error.h"
#include "nustream/model/logistic.h"
#include "nustream/privacy/zcdp.h"

namespace nustream::ranges {
namespace {

/// The factor that makes room for what rounding of norms and entries can add, relative to a bound.
double room_for_rounding(std::size_t dimension) {
  return 1 - (static_cast<double>(dimension) + 16) * 0x1p-49;
}

/// Δ of what has this norm at most. `replaced` is how many norms apart two records are at most.
double moves(privacy::Neighbours neighbours, double norm, double replaced) {
  if (neighbours.adjacency != privacy::Adjacency::replace_one) return norm;
  return (neighbours.of_user ? 2 : replaced) * norm;
}

std::size_t triangle(const Eigen::VectorXd& theta) {
  return static_cast<std::size_t>(theta.size() * (theta.size() + 1) / 2);
}

}  // namespace

Expected expected(Likelihood likelihood, double predictor) noexcept {
  const double at = descent::clamp_to(predictor, largest_predictor);
  if (likelihood == Likelihood::poisson) return {std::exp(at), std::exp(at)};
  const double mean = model::Logistic{}.slope(at, 0);
  return {mean, mean * model::Logistic{}.slope(-at, 0)};
}

ScoreSums::Block ScoreSums::block(double norm, double displacement, Rho rho, std::size_t entries, double room) {
  // The displacement is rounded upwards, as roots and products were rounded to nearest.
  const double moved = displacement * (1 + 0x1p-50);
  const NoiseStddev stddev = noise_stddev(privacy::multiplier_for(Sensitivity{1}, rho), Displacement{moved});
  Block made{stddev, noise::Grid(stddev, 1, ClipNorm{norm}), 0, std::vector<WideUnits>(entries)};
  // Truncation moves each entry by less than a spacing, so ⟨A, B⟩ ≥ 0 may fail by as much.
  const double truncated = 2 * std::sqrt(static_cast<double>(entries)) * made.grid.spacing() / norm;
  const double factor = room - truncated;
  if (!(factor > 0.5)) throw InvalidParameter("rho", "so small that rows drown", "noise below 2^30 rows");
  made.units = factor / made.grid.spacing();
  return made;
}

ScoreSums::ScoreSums(Likelihood likelihood, const ScoreBounds& bounds, privacy::Neighbours neighbours, Rho rho,
                     const Eigen::VectorXd& theta)
    : likelihood_(likelihood),
      bounds_(bounds),
      theta_(theta),
      curvature_(block(bounds.curvature, moves(neighbours, bounds.curvature, std::numbers::sqrt2),
                       Rho{rho.value() * curvature_share}, triangle(theta),
                       room_for_rounding(static_cast<std::size_t>(theta.size())))),
      score_(block(bounds.inputs * bounds.residuals, moves(neighbours, bounds.inputs * bounds.residuals, 2),
                   Rho{rho.value() * (1 - curvature_share)}, static_cast<std::size_t>(theta.size()),
                   room_for_rounding(static_cast<std::size_t>(theta.size())))),
      row_(curvature_.sums.size() + score_.sums.size()) {
  NUSTREAM_REQUIRE(theta.allFinite(), "a finite point to take the score at");
  if (!neighbours.of_user) return;
  user_.emplace(std::vector<users::ContributionBlock>{
      {curvature_.sums.size(), bounds.curvature, curvature_.grid.spacing()},
      {score_.sums.size(), bounds.inputs * bounds.residuals, score_.grid.spacing()}});
}

/// Sets what a row adds, in the given units for each 1. Returns false for a row that adds nothing.
bool ScoreSums::set_row(const Eigen::Ref<const Eigen::VectorXd>& inputs, double target, double times,
                        double curvature_units, double score_units) noexcept {
  const double squares = times * inputs.squaredNorm();
  if (!std::isfinite(squares) || !std::isfinite(target)) return false;
  const auto [mean, weight] = expected(likelihood_, inputs.dot(theta_));
  const double heavy = weight * squares;
  const double counts = std::min(descent::share_within(squares, bounds_.inputs * bounds_.inputs),
                                 descent::share_within(heavy, bounds_.curvature));
  // A smaller share would be rounded to a number whose product with the row's squares exceeds the bounds, so such a
  // large row adds nothing.
  constexpr double smallest = 0x1p-900;
  if (counts < smallest || !std::isfinite(heavy)) return false;
  const double root = std::sqrt(counts);
  const double longer = std::sqrt(times);
  // √(vω)·x is at most R_x long and the clipped factor at most R_r, so the score's norm is at most R_x·R_r.
  const double residual = longer * root * descent::clamp_to(root * longer * (target - mean), bounds_.residuals);
  double* entry = row_.data();
  for (Eigen::Index i = 0; i < inputs.size(); ++i) {
    const double diagonal = counts * weight * times * inputs(i) * curvature_units;
    *entry++ = diagonal * inputs(i);
    for (Eigen::Index j = i + 1; j < inputs.size(); ++j) *entry++ = std::numbers::sqrt2 * diagonal * inputs(j);
  }
  for (Eigen::Index i = 0; i < inputs.size(); ++i) *entry++ = residual * inputs(i) * score_units;
  return true;
}

void ScoreSums::add(const Eigen::Ref<const Eigen::VectorXd>& inputs, double target, double times) noexcept {
  if (user_) {
    // A user's rows are summed before truncation, and UserSums brings the shortened sum to the grids.
    if (set_row(inputs, target, times, 1, 1)) user_->add(row_);
    return;
  }
  if (set_row(inputs, target, times, curvature_.units, score_.units)) add_to_sums<double>(row_);
}

void ScoreSums::end_user() {
  NUSTREAM_REQUIRE(user_.has_value(), "turns of users, where the unit is the user");
  add_to_sums<std::int64_t>(user_->end_user());
}

/// Adds entries in units of the grids, which are truncated.
template <class Entry>
void ScoreSums::add_to_sums(std::span<const Entry> entries) noexcept {
  for (WideUnits& sum : curvature_.sums) {
    sum += static_cast<WideUnits>(entries.front());
    entries = entries.subspan(1);
  }
  for (WideUnits& sum : score_.sums) {
    sum += static_cast<WideUnits>(entries.front());
    entries = entries.subspan(1);
  }
}

std::vector<double> ScoreSums::noisy(const Block& block, const DrawNoise& draw, KeyStage stage) {
  const std::vector<std::int64_t> noise = draw(stage, block.grid, block.sums.size());
  NUSTREAM_REQUIRE(noise.size() == block.sums.size(), "every entry has its own noise");
  std::vector<double> values;
  for (std::size_t i = 0; i < noise.size(); ++i) {
    const WideUnits added = noise[i];
    values.push_back(descent::add_noise(block.sums[i], added) * block.grid.spacing());
  }
  return values;
}

ScoreSums::Released ScoreSums::release(const DrawNoise& draw, KeyStage curvature, KeyStage score) const {
  const std::vector<double> second = noisy(curvature_, draw, curvature);
  const std::vector<double> first = noisy(score_, draw, score);
  return {moments::full_matrix(second, first.size()), Eigen::Map<const Eigen::VectorXd>(first.data(), theta_.size()),
          curvature_.stddev.value(), score_.stddev.value()};
}

RarerLabel rarer_label(const ScoreSums::Released& found, const Eigen::VectorXd& constant) {
  const double curvature = constant.dot(found.curvature * constant);
  const double score = constant.dot(found.score);
  return {curvature - std::fabs(score),
          std::hypot(found.curvature_stddev * constant.squaredNorm(), found.score_stddev * constant.norm())};
}

double ratio_of_means(const ScoreSums::Released& found, const Eigen::VectorXd& constant) {
  const double curvature = constant.dot(found.curvature * constant);
  return curvature > 0 ? 1 + constant.dot(found.score) / curvature : 0;
}

}  // namespace nustream::ranges
