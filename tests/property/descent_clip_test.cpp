// The sensitivity bound itself: whatever a record holds, its clipped gradient on the grid is no longer than the clip
// norm G.
#include "nustream/descent/clip.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "support/descent_gradient.h"

namespace nustream::descent {
namespace {

using tests::adversarial;
using tests::gradient_units;
using tests::within;

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

std::vector<std::int64_t> clipped(double slope, const std::vector<double>& x, const noise::Grid& grid,
                                  bool* is_long = nullptr) {
  std::vector<std::int64_t> units(x.size(), -1);
  const bool was_long = clip_to_grid(slope, x, grid, units);
  if (is_long != nullptr) *is_long = was_long;
  return units;
}

TEST(Clip, NeverExceedsTheClipNormInExactArithmetic) {
  std::mt19937_64 random(11);
  constexpr double slopes[] = {1.0, -1.0, 1e308, -1e308, 1e-300, 0x1p-1074, 3.7, infinity, -infinity, 1e20};
  for (int repetition = 0; repetition < 20'000; ++repetition) {
    constexpr std::size_t dimensions[] = {1, 2, 3, 7, 8, 9, 10, 31, 33, 64, 129, 1000};
    const std::size_t d = dimensions[random() % (repetition % 20 == 0 ? 12 : 9)];
    const double clip_norm =
        std::ldexp(1.0 + static_cast<double>(random() % 1000) / 1000, static_cast<int>(random() % 20) - 10);
    // The clip norm is up to 2^18 standard deviations of noise, so that the finest grid that is allowed is tested,
    // and coarser ones.
    const noise::Grid grid(NoiseStddev{clip_norm * std::ldexp(1.01, -static_cast<int>(random() % 18))}, 1.0,
                           ClipNorm{clip_norm});
    const auto x = adversarial(random, d);
    const double slope = slopes[random() % std::size(slopes)];
    ASSERT_TRUE(within(clipped(slope, x, grid), grid, clip_norm, 1));
    for (const kernel::Variant& variant : kernel::variants()) {
      if (!variant.available) continue;
      // Under the loss of the mean the slope is −1, so the kernel's fast path sees x as it is.
      ASSERT_TRUE(within(gradient_units(variant, {model::Loss::Kind::mean}, grid, x, x, 0), grid, clip_norm, 1))
          << variant.name << ' ' << repetition;
      const auto linear = gradient_units(variant, {model::Loss::Kind::linear}, grid, std::vector<double>(d), x,
                                         std::isfinite(slope) ? slope : 1.0);
      ASSERT_TRUE(within(linear, grid, clip_norm, 1)) << variant.name << ' ' << repetition;
    }
  }
}

// The margin of d·2^-53 is for vectors such as this one: `heads` entries of 1, whose sum absorbs every later square,
// because each is a little less than half of the sum's last bit. The computed norm is then too short by up to d/4
// roundings.
std::vector<double> absorbed(std::size_t dimension, std::size_t heads, double sum_of_heads) {
  std::vector<double> x(dimension, std::sqrt(0.49 * 0x1p-52 * sum_of_heads));
  std::fill_n(x.begin(), heads, 1.0);
  return x;
}

TEST(Clip, CoversSquaresThatTheSumAbsorbs) {
  const double clip_norm = 1.999;
  const noise::Grid grid(NoiseStddev{0x1p-16}, 1.0, ClipNorm{clip_norm});
  EXPECT_TRUE(within(clipped(1e9, absorbed(16'384, 1, 1.0), grid), grid, clip_norm, 1));
  for (const kernel::Variant& variant : kernel::variants()) {
    if (!variant.available) continue;
    // One head for each of the 4 × 8 running sums of a kernel, so that all of them absorb squares.
    auto x = absorbed(16'384, 32, 1.0);
    for (double& entry : x) entry *= 0x1p20;
    EXPECT_TRUE(within(gradient_units(variant, {model::Loss::Kind::mean}, grid, x, x, 0), grid, clip_norm, 1))
        << variant.name;
  }
}

TEST(Clip, KernelsAgreeWithThePlainWayToOneUnit) {
  std::mt19937_64 random(12);
  for (int repetition = 0; repetition < 5000; ++repetition) {
    const std::size_t d = 1 + random() % 40;
    const noise::Grid grid(NoiseStddev{0.5}, 1.0, ClipNorm{3});
    const auto x = adversarial(random, d);
    const auto plain = clipped(-1.0, x, grid);
    for (const kernel::Variant& variant : kernel::variants()) {
      if (!variant.available) continue;
      const auto fast = gradient_units(variant, {model::Loss::Kind::mean}, grid, x, x, 0);
      // Both are truncations of numbers that lie within (d + 16)·2^-53·2^35 < 1 of each other, so they differ by one
      // unit at most.
      for (std::size_t j = 0; j < d; ++j) ASSERT_LE(std::abs(fast[j] - plain[j]), 1) << variant.name;
    }
  }
}

TEST(Clip, KeepsWhatIsShortToTheUnit) {
  const noise::Grid grid(NoiseStddev{1}, 1.0, ClipNorm{1});
  bool is_long = true;
  const std::vector<double> x = {0.25, -0.5, 0x1p-31};
  const auto units = clipped(1.0, x, grid, &is_long);
  EXPECT_FALSE(is_long);
  for (std::size_t j = 0; j < x.size(); ++j) EXPECT_EQ(grid.to_gradient(units[j]), x[j]);
}

TEST(Clip, TruncatesTowardsZero) {
  const noise::Grid grid(NoiseStddev{1}, 1.0, ClipNorm{1});
  const double s = grid.spacing();
  EXPECT_EQ(clipped(1.0, {2.9 * s, -2.9 * s, 0.99 * s, -0.99 * s}, grid), (std::vector<std::int64_t>{2, -2, 0, 0}));
}

TEST(Clip, ShortensToTheClipNormAndKeepsTheDirection) {
  const noise::Grid grid(NoiseStddev{1}, 1.0, ClipNorm{10});
  for (const double scale : {1e2, 1e200, 4e307}) {
    bool is_long = false;
    const auto units = clipped(-1.0, {3 * scale, -4 * scale}, grid, &is_long);
    EXPECT_TRUE(is_long);
    EXPECT_NEAR(grid.to_gradient(units[0]), -6, 1e-8);
    EXPECT_NEAR(grid.to_gradient(units[1]), 8, 1e-8);
  }
}

TEST(Clip, TakesProductsWhoseFactorsAreOutOfRange) {
  const noise::Grid grid(NoiseStddev{1}, 1.0, ClipNorm{10});
  EXPECT_NEAR(grid.to_gradient(clipped(1e300, {2e-300}, grid)[0]), 2, 1e-8);
  EXPECT_NEAR(grid.to_gradient(clipped(1e-300, {2e300}, grid)[0]), 2, 1e-8);
  EXPECT_NEAR(grid.to_gradient(clipped(1e308, {0x1p-1022}, grid)[0]), 1e308 * 0x1p-1022, 1e-8);
}

TEST(Clip, AnInfiniteSlopeIsADirection) {
  const noise::Grid grid(NoiseStddev{1}, 1.0, ClipNorm{5});
  const auto units = clipped(-infinity, {0.3, 0.4}, grid);
  EXPECT_NEAR(grid.to_gradient(units[0]), -3, 1e-8);
  EXPECT_NEAR(grid.to_gradient(units[1]), -4, 1e-8);
  EXPECT_EQ(clipped(infinity, {0, 0}, grid), (std::vector<std::int64_t>{0, 0}));
}

TEST(Clip, WhatIsNotANumberIsTheZeroGradient) {
  const noise::Grid grid(NoiseStddev{1}, 1.0, ClipNorm{5});
  const std::vector<std::int64_t> zero = {0, 0};
  EXPECT_EQ(clipped(1, {nan, 1}, grid), zero);
  EXPECT_EQ(clipped(1, {1, infinity}, grid), zero);
  EXPECT_EQ(clipped(nan, {1, 1}, grid), zero);
  std::vector<std::int64_t> units(2, -1);
  EXPECT_FALSE(clip_to_grid(std::vector{infinity, 1.0}, grid, units));
  EXPECT_EQ(units, zero);
}

// A NaN or an infinity anywhere in the record, or a row of zeros, makes the gradient zero, under every loss and on
// every instruction set.
TEST(Clip, AnUnusableRecordIsTheZeroGradient) {
  const noise::Grid grid(NoiseStddev{1}, 1.0, ClipNorm{5});
  const std::vector<double> theta = {0.5, -2.0};
  struct Record {
    std::vector<double> x;
    double y;
    bool through_target;
  };
  const Record records[] = {{{nan, 1}, 1, false},     {{1, infinity}, 1, false}, {{-infinity, infinity}, 0, false},
                            {{1, 1}, infinity, true}, {{1, 1}, -infinity, true}, {{1, 1}, nan, true},
                            {{0, 0}, 0, false},       {{0, 0}, 1, false},        {{-0.0, 0}, 1e300, false}};
  for (const kernel::Variant& variant : kernel::variants()) {
    if (!variant.available) continue;
    for (const model::Loss::Kind kind : model::single_predictor_kinds()) {
      for (const Record& record : records) {
        if (record.through_target && !model::needs_target(kind)) continue;
        bool is_long = true;
        const auto units = gradient_units(variant, {kind, 1.0}, grid, theta, record.x, record.y, &is_long);
        EXPECT_EQ(units, (std::vector<std::int64_t>{0, 0})) << variant.name << ' ' << model::name(kind);
        EXPECT_FALSE(is_long);
      }
    }
  }
}

TEST(Clip, OverflowOfTheExponentialIsADirection) {
  const noise::Grid grid(NoiseStddev{1}, 1.0, ClipNorm{5});
  for (const kernel::Variant& variant : kernel::variants()) {
    if (!variant.available) continue;
    bool is_long = false;
    const auto units = gradient_units(variant, {model::Loss::Kind::poisson}, grid, std::vector{1e6, 1e6},
                                      std::vector{0.3, 0.4}, 7, &is_long);
    EXPECT_TRUE(is_long);
    EXPECT_NEAR(grid.to_gradient(units[0]), 3, 1e-8) << variant.name;
    EXPECT_NEAR(grid.to_gradient(units[1]), 4, 1e-8) << variant.name;
  }
}

TEST(Clip, ADivergedIterateHasTheZeroGradient) {
  const noise::Grid grid(NoiseStddev{1}, 1.0, ClipNorm{5});
  for (const kernel::Variant& variant : kernel::variants()) {
    if (!variant.available) continue;
    for (const model::Loss::Kind kind : model::single_predictor_kinds()) {
      if (kind == model::Loss::Kind::mean) continue;  // its gradient does not depend on θ
      const auto units = gradient_units(variant, {kind, 1.0}, grid, std::vector{nan, 1.0}, std::vector{1.0, 2.0}, 1);
      EXPECT_EQ(units, (std::vector<std::int64_t>{0, 0})) << variant.name << ' ' << model::name(kind);
    }
  }
}

}  // namespace
}  // namespace nustream::descent
