// Running sums whose units grow, in long double: a twin that keeps every step in working units, and decides by itself
// which scales and bounds grow; and streams in which a column's spread grows.
#pragma once

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "nustream/moments/stage_noise.h"
#include "support/moments_twin.h"

namespace nustream::tests {

/// Settings of plain sums whose units are looked at at the steps 2, 4, 8 and 12.
inline moments::Settings growing_settings(std::size_t inputs, moments::Spread spread, double sigma = 0.25) {
  moments::Settings settings = redesigned(linear_settings(inputs, 60), {{inputs, 0}, spread, {}});
  settings.sigmas.assign(settings.sigmas.size(), NoiseMultiplier{sigma});
  settings.stages.clear();
  for (const std::uint64_t first : {0U, 2U, 4U, 8U, 12U}) settings.stages.push_back({first, {4, 1, 3}});
  settings.constant = 0;
  settings.grows = true;
  return settings;
}

/// Normal rows with an intercept. From row `from` on the spread of input 1 is `growth` times as large.
inline SumsWorld growing_world(const moments::Settings& settings, std::size_t steps, std::uint64_t seed,
                               double growth, std::size_t from) {
  SumsWorld world = sums_world(settings, steps, seed);
  const std::size_t d = world.rows.dimension;
  std::mt19937_64 random(seed + 1000);
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < world.rows.count(); ++i) {
    double* const x = world.rows.x.data() + i * d;
    x[0] = 1;
    double sum = 1;
    for (std::size_t j = 1; j < d; ++j) {
      x[j] = normal(random) * (j == 1 && i >= from ? growth : 1);
      sum += x[j] * (j == 1 ? 0.25 : 1);
    }
    world.rows.y[i] = 0.5 * sum + normal(random);
  }
  return world;
}

/// Every step in working units, noise included. At each listed step the twin decides the units as growth.h says, from
/// its own sums since the last such step. The centres are given, since any public ones would do.
class GrowingTwin {
 public:
  explicit GrowingTwin(const moments::Settings& settings)
      : settings_(settings),
        d_(static_cast<Eigen::Index>(settings.mechanism.design.shape.inputs)),
        noise_(settings.mechanism.correlation, 1),
        radii_(settings.stages.front().radii),
        scales_(SumsVector::Ones(d_)),
        window_(SumsMatrix::Zero(d_, d_)) {}

  /// Takes step t. `centre` is that of its stage, in working units.
  void step(const SumsWorld& world, std::size_t t, const std::vector<double>& centre) {
    if (t > 0 && std::ranges::find(settings_.stages, t, &moments::StageStart::first) != settings_.stages.end())
      grow(t);
    TwinStep step{SumsMatrix::Zero(d_, d_), SumsVector::Zero(d_), SumsVector::Zero(d_)};
    for (Eigen::Index j = 0; j < d_; ++j) step.centre(j) = centre[static_cast<std::size_t>(j)];
    SumsReal squares = 0;
    const std::vector<noise::Grid> grids = moments::grids(settings_);
    const std::size_t triangle = static_cast<std::size_t>(d_ * (d_ + 1) / 2);
    std::size_t entry = t * triangle;
    for (Eigen::Index i = 0; i < d_; ++i) {
      for (Eigen::Index j = i; j < d_; ++j) {
        const SumsReal unit = grids[0].spacing() * radii_.inputs * radii_.inputs / (i == j ? 1 : sqrtl(2));
        step.second(i, j) = step.second(j, i) = static_cast<SumsReal>(world.noise[0][entry++]) * unit;
      }
    }
    for (Eigen::Index j = 0; j < d_; ++j) {
      const std::int64_t noise = world.noise[1][t * static_cast<std::size_t>(d_) + static_cast<std::size_t>(j)];
      step.cross(j) = static_cast<SumsReal>(noise) * grids[1].spacing() * radii_.inputs * radii_.target;
    }
    if (world.noise.size() > 2) squares = static_cast<SumsReal>(world.noise[2][t]) * grids[2].spacing();
    squares *= radii_.target * radii_.target;
    const std::size_t m = settings_.mechanism.participation.batch;
    for (std::size_t i = t * m; i < (t + 1) * m; ++i) {
      SumsVector x(d_);
      for (Eigen::Index j = 0; j < d_; ++j) {
        x(j) = world.rows.x[i * static_cast<std::size_t>(d_) + static_cast<std::size_t>(j)] / scales_(j);
      }
      const SumsReal scale = std::min<SumsReal>(1, radii_.inputs / x.norm());
      x *= scale;
      const SumsReal predicted = x.dot(scales_.cwiseProduct(step.centre));
      const SumsReal residual =
          std::clamp<SumsReal>(world.rows.y[i] * scale - predicted, -radii_.target, radii_.target);
      step.second += x * x.transpose();
      step.cross += residual * x;
      squares += residual * residual;
    }
    window_ += step.second;
    window_squares_ += squares;
    step.second = scales_.asDiagonal() * step.second * scales_.asDiagonal();
    step.cross = scales_.asDiagonal() * step.cross;
    steps_.push_back(std::move(step));
  }

  [[nodiscard]] SumsVector theta() const {
    SumsMatrix second = SumsMatrix::Zero(d_, d_);
    SumsVector right = SumsVector::Zero(d_);
    for (const TwinStep& step : steps_) {
      second += step.second;
      right += step.cross + step.second * step.centre;
    }
    return second.fullPivLu().solve(right);
  }
  [[nodiscard]] const SumsVector& scales() const { return scales_; }
  [[nodiscard]] const moments::Radii& radii() const { return radii_; }

 private:
  /// The bounds and scales from step t on, by the sums since step `looked_`.
  void grow(std::size_t t) {
    const moments::BlockNoise block = moments::block_noise(settings_.mechanism.design, settings_.sigmas);
    const std::vector<std::uint64_t> first{looked_};
    const SumsReal deviation = sqrtl(noise_.covariance(first, StepCount{t}).front());
    const SumsReal of_second = radii_.inputs * radii_.inputs * block.second * deviation;
    const SumsReal records = static_cast<SumsReal>((t - looked_) * settings_.mechanism.participation.batch);
    const SumsReal usable = window_(0, 0);
    const SumsReal most = std::min(records, usable + 3 * of_second);
    SumsVector growth = SumsVector::Ones(d_);
    for (Eigen::Index j = 1; j < d_ && most > 0; ++j) {
      const SumsReal square = (window_(j, j) - 3 * of_second) / most;
      if (square >= 4) growth(j) = exp2l(roundl(log2l(square) / 2));
    }
    SumsReal lengths = 0;
    SumsReal of_lengths = 0;
    for (Eigen::Index j = 0; j < d_; ++j) {
      lengths += window_(j, j) / powl(growth(j), 2);
      of_lengths += powl(growth(j), -4);
    }
    moments::Radii radii = radii_;
    const SumsReal lower = lengths - 3 * of_second * sqrtl(of_lengths);
    if (most > 0 && lower > 0) {
      const SumsReal bound = std::min(1.75L * sqrtl(lower / most), 2 * sqrtl(static_cast<SumsReal>(d_)));
      if (bound >= 1.1L * radii_.inputs) radii.inputs = static_cast<double>(bound);
    }
    const SumsReal of_squares = powl(radii_.target, 2) * block.spread * deviation;
    if (settings_.mechanism.design.spread == moments::Spread::residuals && window_squares_ > 3 * of_squares &&
        usable > 3 * of_second) {
      const SumsReal bound =
          std::clamp<SumsReal>(3 * sqrtl(window_squares_ / usable), radii_.target / 4, radii_.target * 4);
      if (bound >= 1.25L * radii_.target || radii_.target >= 1.25L * bound) radii.target = static_cast<double>(bound);
    }
    radii_ = radii;
    scales_ = scales_.cwiseProduct(growth);
    looked_ = t;
    window_.setZero();
    window_squares_ = 0;
  }

  moments::Settings settings_;
  Eigen::Index d_;
  moments::StageNoise noise_;
  moments::Radii radii_;
  SumsVector scales_;
  SumsMatrix window_;
  SumsReal window_squares_ = 0;
  std::uint64_t looked_ = 0;
  std::vector<TwinStep> steps_;
};

}  // namespace nustream::tests
