// A linear model's running sums in long double. Every step is kept: there are no stages, and no sums are moved.
#pragma once

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "support/moments_world.h"

namespace nustream::tests {

using SumsReal = long double;
using SumsMatrix = Eigen::Matrix<SumsReal, Eigen::Dynamic, Eigen::Dynamic>;
using SumsVector = Eigen::Matrix<SumsReal, Eigen::Dynamic, 1>;

/// A noisy step of a linear model, about its own centre and with its own radii, in original size.
struct TwinStep {
  SumsMatrix second;
  SumsVector cross, centre;
};

/// Solves Σ κ^age (b − Hθ̂) = 0 over all steps, without stages and without moving sums.
class SumsTwin {
 public:
  explicit SumsTwin(const moments::Settings& settings)
      : settings_(settings),
        d_(static_cast<Eigen::Index>(settings.mechanism.design.shape.inputs)),
        centre_(SumsVector::Zero(d_)) {}
  SumsTwin(const moments::Settings& settings, const std::vector<double>& centre) : SumsTwin(settings) {
    for (Eigen::Index j = 0; j < d_; ++j) centre_(j) = centre[static_cast<std::size_t>(j)];
  }

  void step(const SumsWorld& world, std::size_t t) {
    const auto next = std::ranges::find(settings_.stages, t, &moments::StageStart::first);
    if (next != settings_.stages.end()) {
      radii_ = next->radii;
      if (t > 0) centre_ = theta();
    }
    const Eigen::Index triangle = d_ * (d_ + 1) / 2;
    TwinStep step{SumsMatrix::Zero(d_, d_), SumsVector::Zero(d_), centre_};
    const std::vector<noise::Grid> grids = moments::grids(settings_);
    const std::int64_t* const second_noise = world.noise[0].data() + static_cast<Eigen::Index>(t) * triangle;
    Eigen::Index entry = 0;
    for (Eigen::Index i = 0; i < d_; ++i) {
      for (Eigen::Index j = i; j < d_; ++j) {
        const SumsReal noise =
            static_cast<SumsReal>(second_noise[entry++]) * grids[0].spacing() / (i == j ? 1 : sqrtl(2));
        step.second(i, j) = step.second(j, i) = noise * radii_.inputs * radii_.inputs;
      }
    }
    for (Eigen::Index j = 0; j < d_; ++j) {
      const std::int64_t noise = world.noise[1][t * static_cast<std::size_t>(d_) + static_cast<std::size_t>(j)];
      step.cross(j) = static_cast<SumsReal>(noise) * grids[1].spacing() * radii_.inputs * radii_.target;
    }
    const std::size_t m = settings_.mechanism.participation.batch;
    for (std::size_t i = t * m; i < (t + 1) * m; ++i) {
      SumsVector x(d_);
      for (Eigen::Index j = 0; j < d_; ++j)
        x(j) = world.rows.x[i * static_cast<std::size_t>(d_) + static_cast<std::size_t>(j)];
      const SumsReal scale = std::min<SumsReal>(1, radii_.inputs / x.norm());
      const SumsReal y = world.rows.y[i] * scale;
      if (x.norm() > 0) x *= scale;
      const SumsReal residual = std::clamp<SumsReal>(y - x.dot(centre_), -radii_.target, radii_.target);
      step.second += x * x.transpose();
      step.cross += residual * x;
    }
    steps_.push_back(std::move(step));
  }

  [[nodiscard]] SumsVector theta() const {
    const SumsReal every = static_cast<SumsReal>(settings_.mechanism.participation.batch);
    const SumsReal kept = settings_.memory ? 1 - every / static_cast<SumsReal>(*settings_.memory) : 1;
    SumsMatrix second = SumsMatrix::Zero(d_, d_);
    SumsVector right = SumsVector::Zero(d_);
    for (const TwinStep& step : steps_) {
      second = kept * second + step.second;
      right = kept * right + step.cross + step.second * step.centre;
    }
    return second.fullPivLu().solve(right);
  }

 private:
  moments::Settings settings_;
  Eigen::Index d_;
  moments::Radii radii_;
  SumsVector centre_;
  std::vector<TwinStep> steps_;
};

/// Settings of three stages; with every second seed the sums forget.
inline moments::Settings twin_settings(std::uint64_t seed) {
  moments::Settings settings = linear_settings(1 + seed % 4, 40 + seed % 5);
  settings.stages = {{0, {2, 1, 3}}, {3, {2.5, 1, 1.5}}, {5, {2, 1, 2}}};
  if (seed % 2 == 1) settings.memory = 400;
  return settings;
}

/// How many of the releases of twelve steps were compared. It compares those where noise hides nothing, so that the
/// floor has no effect.
inline std::size_t agreements(moments::Lane lane, SumsTwin twin, const moments::Settings& settings,
                              const SumsWorld& world) {
  std::size_t compared = 0;
  const std::size_t m = settings.mechanism.participation.batch;
  for (std::size_t t = 0; t < 12; ++t) {
    moments::Releases releases;
    advance(lane, settings, world, t * m, (t + 1) * m, releases);
    twin.step(world, t);
    EXPECT_EQ(releases.size(), 1U);
    EXPECT_EQ(releases[0].steps.value(), t + 1);
    EXPECT_EQ(releases[0].records, (t + 1) * m);
    EXPECT_EQ(releases[0].position.value(), 1000 + 3 * (t + 1) * m);
    EXPECT_EQ(releases[0].stage, t < 3 ? 0U : t < 5 ? 1U : 2U);
    if (releases[0].floored > 0) return compared;  // the twin has no floor, and later centres depend on the floor
    const SumsVector expected = twin.theta();
    for (Eigen::Index j = 0; j < expected.size(); ++j) {
      EXPECT_NEAR(releases[0].theta[static_cast<std::size_t>(j)], static_cast<double>(expected(j)), 1e-6) << t;
    }
    ++compared;
  }
  return compared;
}

inline void expect_equal(const moments::Releases& found, const moments::Releases& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].steps, expected[i].steps);
    EXPECT_EQ(found[i].position, expected[i].position);
    EXPECT_EQ(found[i].theta, expected[i].theta);
    EXPECT_EQ(found[i].floored, expected[i].floored);
    ASSERT_EQ(found[i].variances.size(), expected[i].variances.size());
    for (std::size_t j = 0; j < found[i].variances.size(); ++j) {
      EXPECT_EQ(found[i].variances[j].variance, expected[i].variances[j].variance);
    }
    EXPECT_EQ(found[i].sums->second, expected[i].sums->second);
    EXPECT_EQ(found[i].sums->gap, expected[i].sums->gap);
  }
}

/// Settings of plain and of forgetting sums, with every kind of block.
inline std::vector<moments::Settings> all_kinds() {
  std::vector<moments::Settings> all;
  for (const bool forgets : {false, true}) {
    for (const auto& design :
         {moments::Design{{3, 0}, moments::Spread::sandwich, {}},
          moments::Design{{3, 2}, moments::Spread::residuals, {}},
          moments::Design{{2, 0}, moments::Spread::none, {privacy::Adjacency::replace_one, true}}}) {
      moments::Settings settings = redesigned(linear_settings(design.shape.inputs, 25), design);
      settings.release_sums = true;
      settings.constant = 0;
      if (forgets) settings.memory = 100, settings.repeat_every = 2;
      if (!forgets) settings.weighting.residual_variance = 1.0;
      all.push_back(settings);
    }
  }
  return all;
}

}  // namespace nustream::tests
