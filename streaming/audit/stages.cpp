// The audit's own account of a step, apart from the lane's fast paths: what a record adds to each stage, and each
// stage's noisy sum from two iterates. It uses plain formulas in floating-point numbers, so that a mistake in those
// does not repeat itself here.
#include "audit/stages.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "nustream/descent/second_moments.h"
#include "nustream/model/loss.h"

namespace nustream::audit {
namespace {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;
using ConstVector = Eigen::Map<const Vector>;

Eigen::Index entries(std::size_t count) {
  return static_cast<Eigen::Index>(count);
}

Vector copied(std::span<const double> values) {
  return ConstVector(values.data(), entries(values.size()));
}

/// The norms are stable ones, because a canary's gradient may be so long that its square overflows.
Contribution clipped(Vector gradient, ClipNorm clip) {
  const double length = gradient.stableNorm();
  if (length > clip.value()) gradient = gradient.stableNormalized() * clip.value();
  return {std::move(gradient), length / clip.value()};
}

Contribution of_one_stage(const lane::Settings& settings, const Vector& theta, std::span<const double> x, double y,
                          double weight) {
  const std::vector<double> g =
      model::gradient(settings.loss, {theta.data(), static_cast<std::size_t>(theta.size())}, x, y);
  Vector gradient = weight * ConstVector(g.data(), entries(g.size()));
  if (gradient.allFinite()) return clipped(std::move(gradient), settings.clip);
  // The slope is beyond the largest number, as that of a Poisson loss can be. The lane then clips slope · x to the
  // direction of x, and this function does so too.
  Vector direction = Vector::Zero(gradient.size());
  for (Eigen::Index j = 0; j < gradient.size(); ++j) {
    // A multinomial gradient has a copy of x for each class, hence the remainder.
    const double entry = std::abs(x[static_cast<std::size_t>(j) % x.size()]);
    if (entry > 0) direction(j) = std::copysign(entry, gradient(j));
  }
  return {direction.stableNormalized() * settings.clip.value(), std::numeric_limits<double>::infinity()};
}

/// What one record adds to both stages, before anything is clipped.
struct TwoStages {
  Vector second;  // x̂ (x̂ᵀβ − y)
  Vector first;   // z (Θᵀz − x)ᵀ, column by column
};

/// Both gradients at the same θ = [β, Θ], as the IV paper's Algorithm 1 takes them.
TwoStages of_two_stages(const descent::TwoStageShape& shape, const Vector& theta, std::span<const double> row,
                        double y) {
  const ConstVector z(row.data(), entries(shape.instruments));
  const ConstVector endogenous(row.data() + shape.instruments, entries(shape.endogenous));
  const auto p = entries(shape.second_stage());
  const Eigen::Map<const Matrix> first(theta.data() + p, z.size(), endogenous.size());
  const Vector projected = first.transpose() * z;
  Vector fitted(p);
  fitted << z.head(entries(shape.controls)), projected;
  const Matrix gradient = z * (projected - endogenous).transpose();
  return {fitted * (fitted.dot(theta.head(p)) - y), gradient.reshaped()};
}

/// factor·x xᵀ as an isometric triangle, whose length is the Frobenius norm that is clipped.
Contribution of_moments(std::span<const double> x, double factor, ClipNorm clip) {
  std::vector<double> triangle(descent::triangle_size(x.size()));
  descent::isometric_triangle(x, triangle);
  return clipped(factor * ConstVector(triangle.data(), entries(triangle.size())), clip);
}

/// 1 where the gradient is clipped, else 0.
Contribution of_count(double length) {
  const bool is_clipped = length > 1;
  return {Vector::Constant(1, is_clipped ? 1 : 0), is_clipped ? length : 0};
}

/// λ of the settings and what the loss brings along: the mean's r(θ) = ½‖θ‖² is neither clipped nor noised.
double regularisation(const lane::Settings& settings) {
  return settings.l2 + model::own_regularisation(settings.loss.kind);
}

/// The sum of gradients in a step of size η: m times the move over η, less the regulariser's part.
Vector sum_of(const Vector& before, const Vector& after, double eta, double l2, double m) {
  return m * ((before - after) / eta - l2 * before);
}

/// The sum that was added last to a mean of `count` steps: m times the difference of the two running totals.
Vector last_of(const Vector& before, const Vector& after, double count, double m) {
  return m * (count * after - (count - 1) * before);
}

}  // namespace

std::vector<Contribution> contributions(const lane::Settings& settings, const Vector& theta,
                                        std::span<const double> x, double y, double weight) {
  std::vector<Contribution> all;
  if (settings.first_stage) {
    TwoStages both = of_two_stages(settings.first_stage->shape, theta, x, y);
    both.second *= weight;
    both.first *= weight;
    all.push_back(clipped(std::move(both.second), settings.clip));
    // A first stage without a clip norm is public and has no noise, so it is no stage to the adversary.
    if (settings.first_stage->clip) all.push_back(clipped(std::move(both.first), *settings.first_stage->clip));
  } else {
    all.push_back(of_one_stage(settings, theta, x, y, weight));
  }
  if (settings.moments) all.push_back(of_moments(x, weight, settings.moments->bread));
  if (settings.moments && settings.moments->meat) {
    const double residual = weight * (ConstVector(x.data(), entries(x.size())).dot(theta) - y);
    all.push_back(of_moments(x, residual * residual, *settings.moments->meat));
  }
  if (settings.counts_clipped) all.push_back(of_count(all.front().length));
  return all;
}

void sum_up(std::vector<Contribution>& added, double records) {
  for (Contribution& each : added) {
    // All records are the same one, so their sum has its direction; what one of them was clipped by is undone first.
    const double alone = std::min(each.length, 1.0);
    each.length *= records;
    if (alone > 0) each.clipped *= std::min(each.length, 1.0) / alone;
  }
}

void sum_up_together(std::vector<Contribution>& added, double records) {
  constexpr double nearly = 1 - 1e-9;
  double longest = 1;
  for (const Contribution& each : added) longest = std::max(longest, records * each.clipped.norm());
  for (Contribution& each : added) {
    each.clipped *= records / longest;
    const double norm = each.clipped.norm();
    each.length = norm >= nearly ? std::max(1.0, records * each.length) : norm;
  }
}

void step_without_noise(const lane::Settings& settings, StepIndex step, const std::vector<Contribution>& added,
                        std::span<const double> x, Vector& theta, Vector& velocity, double weight) {
  const auto m = static_cast<double>(settings.minibatch);
  const double eta = settings.schedule.at(step);
  if (!settings.first_stage) {
    Vector gradient = regularisation(settings) * theta;
    if (!added.empty()) gradient += added.front().clipped / m;
    if (settings.momentum > 0) {
      velocity = velocity.size() == 0 ? gradient : Vector(settings.momentum * velocity + gradient);
      gradient = velocity;
    }
    theta -= eta * gradient;
    return;
  }
  const lane::FirstStage& own = *settings.first_stage;
  const auto p = entries(own.shape.second_stage());
  Vector gradient = theta;
  gradient.head(p) *= settings.l2;
  gradient.tail(theta.size() - p) *= own.l2;
  if (!added.empty()) gradient.head(p) += added.front().clipped / m;
  // The first stage's gradient does not depend on the target, so any number serves as y.
  if (!own.clip) gradient.tail(theta.size() - p) += weight * of_two_stages(own.shape, theta, x, 0).first;
  if (own.clip && !added.empty()) gradient.tail(theta.size() - p) += added[1].clipped / m;
  theta.head(p) -= eta * gradient.head(p);
  theta.tail(theta.size() - p) -= own.schedule.at(step) * gradient.tail(theta.size() - p);
}

Seen seen_at_start(const lane::Settings& settings) {
  Seen seen{copied(settings.start), {}, {}};
  if (settings.momentum > 0) seen.velocity = Vector::Zero(seen.theta.size());
  if (!settings.moments) return seen;
  seen.bread = Vector::Zero(entries(descent::triangle_size(lane::row_entries(settings))));
  if (settings.moments->meat) seen.meat = seen.bread;
  return seen;
}

Seen seen_of(const lane::Release& release) {
  Seen seen{copied(release.theta), copied(release.bread), copied(release.meat)};
  if (release.clipped) {
    seen.clipped = release.clipped->sum;
    seen.since = release.clipped->since.value();
  }
  return seen;
}

std::vector<Vector> noisy_sums(const lane::Settings& settings, StepIndex step, const Seen& before, Seen& after) {
  const auto m = static_cast<double>(settings.minibatch);
  const double eta = settings.schedule.at(step);
  std::vector<Vector> all;
  if (settings.first_stage) {
    const lane::FirstStage& own = *settings.first_stage;
    const auto p = entries(own.shape.second_stage());
    const auto q = before.theta.size() - p;
    all.push_back(sum_of(before.theta.head(p), after.theta.head(p), eta, settings.l2, m));
    if (own.clip) {
      all.push_back(sum_of(before.theta.tail(q), after.theta.tail(q), own.schedule.at(step), own.l2, m));
    }
  } else {
    all.push_back(sum_of(before.theta, after.theta, eta, regularisation(settings), m));
    if (settings.momentum > 0) {
      // θ moved by the new velocity μ v + g, of which g is looked for.
      all.back() -= m * settings.momentum * before.velocity;
      after.velocity = (before.theta - after.theta) / eta;
    }
  }
  // Means of second moments run over all steps so far, this one among them.
  const auto count = static_cast<double>(step.value() + 1);
  if (settings.moments) all.push_back(last_of(before.bread, after.bread, count, m));
  if (settings.moments && settings.moments->meat) all.push_back(last_of(before.meat, after.meat, count, m));
  if (settings.counts_clipped) {
    after.counted = before.counted;
    // A release shows the count since step `since`; with what was counted up to there it is the count since step 0.
    after.counted.push_back(after.counted.at(after.since) + after.clipped);
    all.push_back(Vector::Constant(1, after.counted.back() - before.counted.back()));
  }
  return all;
}

}  // namespace nustream::audit
