// The lane of running sums against a twin in long double that keeps every step, and against itself cut and resumed.
#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/moments_world.h"

namespace nustream::tests {
namespace {

using Real = long double;
using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;

/// A linear model's noisy steps, each about its own centre with its own radii, in original size.
struct Step {
  Matrix second;
  Vector cross, centre;
};

/// Σ κ^age (b − Hθ̂) = 0 over all steps: no stages, no moving of sums.
class Twin {
 public:
  explicit Twin(const moments::Settings& settings)
      : settings_(settings),
        d_(static_cast<Eigen::Index>(settings.mechanism.design.shape.inputs)),
        centre_(Vector::Zero(d_)) {}

  void step(const SumsWorld& world, std::size_t t) {
    const auto next = std::ranges::find(settings_.stages, t, &moments::StageStart::first);
    if (next != settings_.stages.end()) {
      radii_ = next->radii;
      if (t > 0) centre_ = theta();
    }
    const Eigen::Index triangle = d_ * (d_ + 1) / 2;
    Step step{Matrix::Zero(d_, d_), Vector::Zero(d_), centre_};
    const std::vector<noise::Grid> grids = moments::grids(settings_);
    const std::int64_t* const second_noise = world.noise[0].data() + static_cast<Eigen::Index>(t) * triangle;
    Eigen::Index entry = 0;
    for (Eigen::Index i = 0; i < d_; ++i) {
      for (Eigen::Index j = i; j < d_; ++j) {
        const Real noise = static_cast<Real>(second_noise[entry++]) * grids[0].spacing() / (i == j ? 1 : sqrtl(2));
        step.second(i, j) = step.second(j, i) = noise * radii_.inputs * radii_.inputs;
      }
    }
    for (Eigen::Index j = 0; j < d_; ++j) {
      const std::int64_t noise = world.noise[1][t * static_cast<std::size_t>(d_) + static_cast<std::size_t>(j)];
      step.cross(j) = static_cast<Real>(noise) * grids[1].spacing() * radii_.inputs * radii_.target;
    }
    const std::size_t m = settings_.mechanism.participation.batch;
    for (std::size_t i = t * m; i < (t + 1) * m; ++i) {
      Vector x(d_);
      for (Eigen::Index j = 0; j < d_; ++j)
        x(j) = world.rows.x[i * static_cast<std::size_t>(d_) + static_cast<std::size_t>(j)];
      const Real scale = std::min<Real>(1, radii_.inputs / x.norm());
      const Real y = world.rows.y[i] * scale;
      if (x.norm() > 0) x *= scale;
      const Real residual = std::clamp<Real>(y - x.dot(centre_), -radii_.target, radii_.target);
      step.second += x * x.transpose();
      step.cross += residual * x;
    }
    steps_.push_back(std::move(step));
  }

  [[nodiscard]] Vector theta() const {
    const Real every = static_cast<Real>(settings_.mechanism.participation.batch);
    const Real kept = settings_.memory ? 1 - every / static_cast<Real>(*settings_.memory) : 1;
    Matrix second = Matrix::Zero(d_, d_);
    Vector right = Vector::Zero(d_);
    for (const Step& step : steps_) {
      second = kept * second + step.second;
      right = kept * right + step.cross + step.second * step.centre;
    }
    return second.fullPivLu().solve(right);
  }

 private:
  moments::Settings settings_;
  Eigen::Index d_;
  moments::Radii radii_;
  Vector centre_;
  std::vector<Step> steps_;
};

moments::Settings settings_of(std::uint64_t seed) {
  moments::Settings settings = linear_settings(1 + seed % 4, 40 + seed % 5);
  settings.stages = {{0, {2, 1, 3}}, {3, {2.5, 1, 1.5}}, {5, {2, 1, 2}}};
  if (seed % 2 == 1) settings.memory = 400;
  return settings;
}

// Wherever noise hides nothing: the floor is then without effect.
TEST(SumsLane, AgreesWithATwinThatKeepsEveryStep) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const moments::Settings settings = settings_of(seed);
    const SumsWorld world = sums_world(settings, 12, seed);
    moments::Lane lane(settings, Position{1000});
    Twin twin(settings);
    bool hidden = false;
    for (std::size_t t = 0; t < 12; ++t) {
      const std::size_t m = settings.mechanism.participation.batch;
      moments::Releases releases;
      advance(lane, settings, world, t * m, (t + 1) * m, releases);
      twin.step(world, t);
      ASSERT_EQ(releases.size(), 1U);
      EXPECT_EQ(releases[0].steps.value(), t + 1);
      EXPECT_EQ(releases[0].records, (t + 1) * m);
      EXPECT_EQ(releases[0].position.value(), 1000 + 3 * (t + 1) * m);
      EXPECT_EQ(releases[0].stage, t < 3 ? 0U : t < 5 ? 1U : 2U);
      hidden = hidden || releases[0].floored > 0;
      if (hidden) continue;  // the twin has no floor, and later centres depend on it
      const Vector expected = twin.theta();
      for (Eigen::Index j = 0; j < expected.size(); ++j) {
        EXPECT_NEAR(releases[0].theta[static_cast<std::size_t>(j)], static_cast<double>(expected(j)), 1e-6)
            << seed << ' ' << t;
      }
      ++compared;
    }
  }
  EXPECT_GT(compared, 200U);
}

void expect_equal(const moments::Releases& found, const moments::Releases& expected) {
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

std::vector<moments::Settings> all_kinds() {
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

// However the rows are cut, and wherever the state is written and read again, the same bytes come out.
TEST(SumsLane, CutsAndResumesLeaveNoTrace) {
  constexpr std::size_t steps = 14;
  for (const moments::Settings& settings : all_kinds()) {
    const std::size_t m = settings.mechanism.participation.batch;
    const SumsWorld world = sums_world(settings, steps, 9);
    moments::Lane whole(settings, Position{1000});
    moments::Releases expected;
    advance(whole, settings, world, 0, steps * m, expected);
    ASSERT_EQ(expected.size(), steps);
    std::mt19937_64 random(2);
    moments::Lane cut(settings, Position{1000});
    moments::Releases found;
    for (std::size_t row = 0; row < steps * m;) {
      const std::size_t end = std::min<std::size_t>(row + 1 + random() % (2 * m), steps * m);
      advance(cut, settings, world, row, end, found);
      row = end;
      EXPECT_EQ(cut.open_records(), row % m);
    }
    expect_equal(found, expected);
    EXPECT_EQ(cut.encode(), whole.encode());
    moments::Lane resumed(settings, Position{1000});
    moments::Releases again;
    for (std::size_t t = 0; t < steps; ++t) {
      resumed = moments::Lane::decode(settings, resumed.encode());
      advance(resumed, settings, world, t * m, (t + 1) * m, again);
    }
    expect_equal(again, expected);
    EXPECT_EQ(resumed.encode(), whole.encode());
    moments::Releases last;
    resumed.release_now(last);
    expect_equal(last, {expected.back()});
  }
}

// A record's inputs and target reach the sums of its own step alone, and later centres only through these.
TEST(SumsLane, ARecordMovesNoEarlierRelease) {
  const moments::Settings settings = linear_settings(3, 25);
  SumsWorld world = sums_world(settings, 10, 4);
  moments::Releases before;
  moments::Lane lane(settings, Position{0});
  advance(lane, settings, world, 0, 250, before);
  world.rows.y[6 * 25 + 3] += 1;
  moments::Releases after;
  moments::Lane other(settings, Position{0});
  advance(other, settings, world, 0, 250, after);
  for (std::size_t t = 0; t < 6; ++t) EXPECT_EQ(before[t].theta, after[t].theta);
  EXPECT_NE(before[6].theta, after[6].theta);
}

// Public rows make H exact, so that θ̂ without noise is least squares.
TEST(SumsLane, OfPublicRowsAreExactButForTheTargetsNoise) {
  moments::Settings settings = redesigned(
      linear_settings(2, 50), moments::Design{{2, 0}, moments::Spread::none, {privacy::Adjacency::zero_out, true}});
  settings.stages = {{0, {100, 1, 1000}}};
  settings.sigmas.assign(1, NoiseMultiplier{0x1p-16});  // for a fine grid
  SumsWorld world = sums_world(settings, 4, 8);
  ASSERT_EQ(world.noise.size(), 1U);
  std::ranges::fill(world.noise[0], 0);
  std::vector<double> y = world.rows.y;
  for (std::size_t i = 0; i < y.size(); i += 7) world.rows.y[i] = std::numeric_limits<double>::quiet_NaN();
  moments::Lane lane(settings, Position{0});
  moments::Releases releases;
  advance(lane, settings, world, 0, 200, releases);
  EXPECT_EQ(releases.back().floored, 0U);
  // A row without a target keeps its H and has no residual: it says that the centre is right there.
  Eigen::Matrix2d second = Eigen::Matrix2d::Zero();
  Eigen::Vector2d cross = Eigen::Vector2d::Zero();
  const Eigen::Vector2d centre(0.125, 0.125);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const Eigen::Vector2d x(world.rows.x[2 * i], world.rows.x[2 * i + 1]);
    second += x * x.transpose();
    if (i % 7 != 0) cross += x * (y[i] - x.dot(centre));
  }
  const Eigen::Vector2d expected = centre + second.inverse() * cross;
  EXPECT_NEAR(releases.back().theta[0], expected(0), 1e-8);
  EXPECT_NEAR(releases.back().theta[1], expected(1), 1e-8);
}

}  // namespace
}  // namespace nustream::tests
