// Bounds of local privacy: what the projection leaves of a record, and how far two records can be apart, against a
// search.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/inference/local_bounds.h"

namespace nustream::inference {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

LocalBounds l1_bounds(std::size_t p, double r) {
  return {.dimension = p, .l1 = r};
}

LocalBounds l2_bounds(std::size_t p, double r2) {
  return {.dimension = p, .l2 = r2};
}

double l1_norm(const std::vector<double>& x) {
  long double sum = 0;
  for (const double entry : x) sum += std::fabs(entry);
  return static_cast<double>(sum);
}

double l2_norm(const std::vector<double>& x) {
  long double sum = 0;
  for (const double entry : x) sum += static_cast<long double>(entry) * entry;
  return static_cast<double>(std::sqrt(sum));
}

// ---- projection

TEST(LocalProjection, LeavesWhatIsWithinTheBoundsAsItIs) {
  std::vector<double> x{0.25, -0.5, 0.125};
  double y = 1;
  const Projected projected = project(l1_bounds(3, 1.0), x, y);
  EXPECT_EQ(x, (std::vector<double>{0.25, -0.5, 0.125}));
  EXPECT_EQ(y, 1);
  EXPECT_FALSE(projected.features);
  EXPECT_FALSE(projected.label);
}

TEST(LocalProjection, ScalesToTheTighterBoundAndKeepsTheDirection) {
  LocalBounds bounds = l1_bounds(2, 1.0);
  bounds.l2 = 0.5;
  std::vector<double> x{3, -4};
  double y = -7;
  const Projected projected = project(bounds, x, y);
  EXPECT_TRUE(projected.features);
  EXPECT_TRUE(projected.label);
  EXPECT_EQ(y, 0);
  EXPECT_NEAR(x[0], 0.3, 1e-14);
  EXPECT_NEAR(x[1], -0.4, 1e-14);
}

// A record on the bound, such as the paper's ±1/p with r = 1, does not count as projected.
TEST(LocalProjection, RoundingAloneIsNoProjection) {
  std::vector<double> x(10, 0.1);
  double y = 0;
  EXPECT_FALSE(project(l1_bounds(10, 1.0), x, y).features);
  for (const double entry : x) EXPECT_NEAR(entry, 0.1, 1e-14);
}

TEST(LocalProjection, NeverLeavesARecordBeyondABoundWhateverItsSize) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> exponent(-300, 307);
  for (std::size_t trial = 0; trial < 20'000; ++trial) {
    const std::size_t p = 1 + trial % 7;
    LocalBounds bounds = l1_bounds(p, std::exp(normal(random)));
    if (trial % 2 == 0) bounds.l2 = std::exp(normal(random));
    std::vector<double> x(p);
    const double scale = std::pow(10.0, trial % 3 == 0 ? exponent(random) : normal(random));
    for (double& entry : x) entry = normal(random) * scale;
    double y = 0.5;
    static_cast<void>(project(bounds, x, y));
    ASSERT_LE(l1_norm(x), *bounds.l1);
    if (bounds.l2) {
      ASSERT_LE(l2_norm(x), *bounds.l2);
    }
  }
}

TEST(LocalProjection, WhatIsNotFiniteBecomesTheNullRecord) {
  LocalBounds bounds = l1_bounds(2, 1.0);
  bounds.label_centre = 0.5;
  for (const double bad : {infinity, -infinity, std::numeric_limits<double>::quiet_NaN()}) {
    std::vector<double> x{0.1, bad};
    double y = 1;
    static_cast<void>(project(bounds, x, y));
    EXPECT_EQ(x, (std::vector<double>{0, 0}));
    EXPECT_EQ(y, 0.5);
    std::vector<double> fine{0.1, 0.2};
    double label = bad;
    static_cast<void>(project(bounds, fine, label));
    EXPECT_EQ(fine, (std::vector<double>{0, 0})) << "a label that is no number hides its features too";
    EXPECT_EQ(label, 0.5);
  }
}

// ---- displacement

struct Report {
  std::vector<double> second_moment;
  std::vector<double> cross_moment;
};

Report report_of(const std::vector<double>& x, double label) {
  Report report;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = i; j < x.size(); ++j) report.second_moment.push_back(x[i] * x[j]);
    report.cross_moment.push_back(x[i] * label);
  }
  return report;
}

double square_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

struct Distance {
  double second_moment;
  double cross_moment;
  double stacked;  ///< both parts, each in units of its noise
};

Distance distance(const std::vector<double>& x, double u, const std::vector<double>& x_other, double u_other,
                  double sd1, double sd2) {
  const Report one = report_of(x, u);
  const Report other = report_of(x_other, u_other);
  const double first = square_distance(one.second_moment, other.second_moment);
  const double second = square_distance(one.cross_moment, other.cross_moment);
  return {std::sqrt(first), std::sqrt(second), std::sqrt(first / (sd1 * sd1) + second / (sd2 * sd2))};
}

/// The largest distance of two records that a hill climb from many starts finds.
Distance search(const LocalBounds& bounds, double sd1, double sd2, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> labels(bounds.label_lower, bounds.label_upper);
  const std::size_t p = bounds.dimension;
  Distance best{};
  const auto projected = [&](std::vector<double> x) {
    double y = bounds.label_centre;
    static_cast<void>(project(bounds, x, y));
    return x;
  };
  for (int start = 0; start < 60; ++start) {
    std::vector<double> x(p), other(p);
    for (double& entry : x) entry = 3 * normal(random);
    for (double& entry : other) entry = 3 * normal(random);
    x = projected(x);
    other = projected(other);
    double y = labels(random), y_other = labels(random);
    double step = 1;
    const auto at = [&](const std::vector<double>& a, double ya, const std::vector<double>& b, double yb) {
      return distance(a, ya - bounds.label_centre, b, yb - bounds.label_centre, sd1, sd2);
    };
    Distance now = at(x, y, other, y_other);
    for (int move = 0; move < 600; ++move) {
      std::vector<double> x_next = x, other_next = other;
      for (double& entry : x_next) entry += step * normal(random);
      for (double& entry : other_next) entry += step * normal(random);
      x_next = projected(x_next);
      other_next = projected(other_next);
      const double y_next = std::clamp(y + 3 * step * normal(random), bounds.label_lower, bounds.label_upper);
      const double y_other_next =
          std::clamp(y_other + 3 * step * normal(random), bounds.label_lower, bounds.label_upper);
      const Distance next = at(x_next, y_next, other_next, y_other_next);
      best.second_moment = std::max(best.second_moment, next.second_moment);
      best.cross_moment = std::max(best.cross_moment, next.cross_moment);
      if (next.stacked > now.stacked) {
        now = next;
        x = x_next;
        other = other_next;
        y = y_next;
        y_other = y_other_next;
      } else {
        step *= 0.985;
      }
    }
    best.stacked = std::max(best.stacked, now.stacked);
  }
  return best;
}

TEST(LocalDisplacement, NoPairOfRecordsIsFartherApartAndSomeAreAsFar) {
  std::uint64_t seed = 1;
  for (const std::size_t p : {1UL, 2UL, 3UL, 5UL}) {
    for (const bool by_l2 : {false, true}) {
      LocalBounds bounds = by_l2 ? l2_bounds(p, 0.7) : l1_bounds(p, 1.3);
      for (const double centre : {0.0, 0.5}) {
        bounds.label_centre = centre;
        const LocalNorm norm = by_l2 ? LocalNorm::l2 : LocalNorm::l1;
        const LocalDisplacement claimed = local_displacement(bounds, norm);
        for (const auto& [sd1, sd2] : {std::pair{1.0, 1.0}, {0.3, 2.0}, {3.0, 0.4}}) {
          const double mu = local_mu(bounds, norm, NoiseStddev{sd1}, NoiseStddev{sd2});
          const Distance found = search(bounds, sd1, sd2, seed++);
          EXPECT_LE(found.second_moment, claimed.second_moment * (1 + 1e-12));
          EXPECT_LE(found.cross_moment, claimed.cross_moment * (1 + 1e-12));
          EXPECT_LE(found.stacked, mu * (1 + 1e-12)) << p << ' ' << by_l2 << ' ' << sd1;
          EXPECT_LE(mu, std::hypot(claimed.second_moment / sd1, claimed.cross_moment / sd2) * (1 + 1e-15));
          if (p >= 2 && by_l2) {
            EXPECT_GE(found.stacked, 0.98 * mu) << "a bound that nothing reaches: " << p;
          }
        }
      }
    }
  }
}

// The pairs of records that the docstrings name reach the bounds.
TEST(LocalDisplacement, IsReached) {
  const double r = 1.5;
  const LocalBounds bounds = l1_bounds(3, r);
  const LocalDisplacement claimed = local_displacement(bounds, LocalNorm::l1);
  EXPECT_NEAR(distance({r, 0, 0}, 0, {0, r, 0}, 0, 1, 1).second_moment, claimed.second_moment, 1e-12);
  EXPECT_NEAR(distance({r, 0, 0}, 1, {-r, 0, 0}, 1, 1, 1).cross_moment, claimed.cross_moment, 1e-12);
  EXPECT_NEAR(claimed.second_moment, std::numbers::sqrt2 * r * r, 1e-12);
  EXPECT_NEAR(claimed.cross_moment, 2 * r, 1e-12);
  const LocalDisplacement paper = local_displacement(bounds, LocalNorm::paper);
  EXPECT_NEAR(paper.second_moment, 2 * r * r, 1e-12);
  EXPECT_NEAR(paper.cross_moment, 2 * r, 1e-12);
}

// Mirrored pairs with equal products off the diagonal reach the supremum of both parts together.
TEST(LocalDisplacement, TheStackedReportsSupremumIsReached) {
  const double r2 = 0.8;
  const LocalBounds bounds = l2_bounds(2, r2);
  for (const auto& [sd1, sd2] : {std::pair{1.0, 1.0}, {0.3, 2.0}, {0.5, 0.9}, {3.0, 0.4}}) {
    const double mu = local_mu(bounds, LocalNorm::l2, NoiseStddev{sd1}, NoiseStddev{sd2});
    double farthest = 0;
    for (int i = 0; i <= 100'000; ++i) {
      const double phi = std::numbers::pi / 4 * i / 100'000;
      const std::vector<double> x{r2 * std::cos(phi), r2 * std::sin(phi)};
      const std::vector<double> other{-x[1], -x[0]};
      farthest = std::max(farthest, distance(x, 1, other, 1, sd1, sd2).stacked);
    }
    EXPECT_NEAR(farthest, mu, 1e-8 * mu) << sd1 << ' ' << sd2;
  }
}

TEST(LocalDisplacement, TakesTheSmallerRadiusForL2AndTheFirstForL1) {
  LocalBounds bounds = l1_bounds(4, 1.0);
  bounds.l2 = 0.25;
  EXPECT_NEAR(local_displacement(bounds, LocalNorm::l2).cross_moment, 0.5, 1e-15);
  EXPECT_NEAR(local_displacement(bounds, LocalNorm::l1).cross_moment, 2, 1e-15);
  bounds.l2 = 5;
  EXPECT_NEAR(local_displacement(bounds, LocalNorm::l2).cross_moment, 2, 1e-15);
}

TEST(LocalDisplacement, CentringTheLabelHalvesTheCrossMoments) {
  LocalBounds bounds = l1_bounds(4, 1.0);
  const double plain = local_displacement(bounds, LocalNorm::l1).cross_moment;
  bounds.label_centre = 0.5;
  EXPECT_DOUBLE_EQ(local_displacement(bounds, LocalNorm::l1).cross_moment, plain / 2);
}

// ---- refusals

TEST(LocalBounds, AreChecked) {
  const auto refused = [](const LocalBounds& bounds, const std::string& name) {
    try {
      check(bounds);
      ADD_FAILURE() << name << " was taken";
    } catch (const InvalidParameter& error) {
      EXPECT_EQ(error.name(), name);
    }
  };
  refused({.dimension = 0, .l1 = 1.0}, "dimension");
  refused({.dimension = 1'001, .l1 = 1.0}, "dimension");
  refused({.dimension = 2}, "x_l1_max");
  refused({.dimension = 2, .l1 = 0.0}, "x_l1_max");
  refused({.dimension = 2, .l1 = infinity}, "x_l1_max");
  refused({.dimension = 2, .l1 = 1.0, .l2 = -1.0}, "x_l2_max");
  refused({.dimension = 2, .l1 = 1.0, .label_lower = 1, .label_upper = 1}, "label_max");
  refused({.dimension = 2, .l1 = 1.0, .label_upper = infinity}, "label_max");
  refused({.dimension = 2, .l1 = 1.0, .label_centre = 2}, "label_centre");
  EXPECT_THROW(static_cast<void>(local_displacement(l1_bounds(2, 1.0), LocalNorm::l2)), InvalidParameter);
  EXPECT_THROW(static_cast<void>(local_displacement(l2_bounds(2, 1.0), LocalNorm::paper)), InvalidParameter);
}

}  // namespace
}  // namespace nustream::inference
