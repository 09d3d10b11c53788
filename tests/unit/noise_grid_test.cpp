// The grid at its boundaries, and its rounding against the C library's.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "noise/kernels.h"
#include "nustream/base/error.h"
#include "nustream/noise/gaussian.h"
#include "nustream/noise/grid.h"

namespace nustream::noise {
namespace {

Grid grid(double noise, double largest, double clip) {
  return {NoiseStddev{noise}, largest, ClipNorm{clip}};
}

TEST(Grid, SpacingIsAPowerOfTwoAbout2ToTheMinus32OfTheNoise) {
  for (const double noise : {1.0, 1.9999, 2.0, 0.3, 1e-20, 7e20, 0x1p-990}) {
    const double spacing = grid(noise, 1, noise).spacing();
    int exponent = 0;
    EXPECT_EQ(std::frexp(spacing, &exponent), 0.5);
    EXPECT_LE(spacing * 0x1p32, noise);
    EXPECT_GT(spacing * 0x1p33, noise);
  }
}

TEST(Grid, ClipsJustBelowTheNorm) {
  for (const double clip : {1.0, 0.1, 3.7, 1e-9, 123456.789}) {
    const double radius = grid(1, 1, clip).clip_radius();
    EXPECT_LT(radius, clip);
    EXPECT_NEAR(1 - radius / clip, 0x1p-48, 0x1p-52);
  }
}

// The spacing is 2^-32 at noise 1: the first norm that is refused is 2^51 spacings.
TEST(Grid, RefusesANormOf2To51Spacings) {
  EXPECT_NO_THROW(grid(1, 1, std::nextafter(0x1p19, 0)));
  try {
    static_cast<void>(grid(1, 1, 0x1p19));
    FAIL() << "expected a refusal";
  } catch (const InvalidParameter& refusal) {
    EXPECT_EQ(refusal.name(), "clip_norm");
    EXPECT_EQ(refusal.value(), "524288");
  }
}

TEST(Grid, RefusesFortyDeviationsOf2To51Spacings) {
  const double first_refused = 0x1p51 / 0x1p32 / 40;
  EXPECT_NO_THROW(grid(1, std::nextafter(first_refused, 0), 1));
  EXPECT_THROW(grid(1, first_refused, 1), InvalidParameter);
  EXPECT_THROW(grid(1, 0, 1), InvalidParameter);
  EXPECT_THROW(grid(1, std::numeric_limits<double>::quiet_NaN(), 1), InvalidParameter);
  EXPECT_THROW(grid(1, std::numeric_limits<double>::infinity(), 1), InvalidParameter);
}

TEST(Grid, RefusesASpacingThatIsNoNormalNumber) {
  EXPECT_NO_THROW(grid(0x1p-990, 1, 0x1p-990));
  EXPECT_THROW(grid(std::nextafter(0x1p-990, 0), 1, 0x1p-990), InvalidParameter);
  EXPECT_NO_THROW(grid(std::numeric_limits<double>::max(), 1, 1));
}

TEST(Grid, TruncatesTowardsZero) {
  const Grid unit = grid(0x1p32, 1, 100);  // a grid of spacing 1
  ASSERT_EQ(unit.spacing(), 1);
  EXPECT_EQ(unit.truncate(2.9), 2);
  EXPECT_EQ(unit.truncate(-2.9), -2);
  EXPECT_EQ(unit.truncate(-0.0), 0);
  EXPECT_EQ(unit.to_gradient(-7), -7.0);
}

TEST(Grid, RoundsTiesToEven) {
  const Grid unit = grid(0x1p32, 1, 100);
  const std::vector<double> units{0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999, -0.49999, 3, 0};
  const std::vector<std::int64_t> expected{0, 2, 2, 0, -2, -2, 0, 0, 3, 0};
  std::vector<double> z;
  for (const double value : units) z.push_back(value * 0x1p-32);
  std::vector<std::int64_t> rounded(z.size());
  unit.round_noise(z, rounded);
  EXPECT_EQ(rounded, expected);
}

TEST(Grid, SaturatesBeyond2To51) {
  constexpr auto limit = std::int64_t{1} << 51;
  const Grid unit = grid(0x1p32, 1, 100);
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> z{0x1p19, -0x1p19, 0x1.1p19, -0x1.1p19, -1e300, infinity, -infinity, 0x1p19 - 0x1p-32};
  std::vector<std::int64_t> rounded(z.size());
  unit.round_noise(z, rounded);
  EXPECT_EQ(rounded, (std::vector<std::int64_t>{limit, -limit, limit, -limit, -limit, limit, -limit, limit - 1}));
}

TEST(Grid, RoundsAsTheLibraryDoesOnEveryInstructionSet) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  std::vector<double> z(100'003);
  for (auto& value : z) value = std::ldexp(normal(random), static_cast<int>(random() % 16));
  constexpr double scale = 0x1.89abcdefp32;
  for (const auto set : available_instruction_sets()) {
    std::vector<std::int64_t> rounded(z.size());
    kernels(set).round(z.data(), scale, rounded.data(), z.size());
    for (std::size_t i = 0; i < z.size(); ++i) ASSERT_EQ(rounded[i], std::llrint(z[i] * scale)) << i;
  }
}

TEST(GridDeathTest, NeedsAPlaceForEveryValue) {
  const std::vector<double> z(3);
  std::vector<std::int64_t> rounded(2);
  EXPECT_DEATH(grid(1, 1, 1).round_noise(z, rounded), "contract violated");
}

TEST(SaturatingAdd, StopsAtTheEnds) {
  EXPECT_EQ(saturating_add(1, -3), -2);
  EXPECT_EQ(saturating_add(INT64_MAX, 1), INT64_MAX);
  EXPECT_EQ(saturating_add(INT64_MIN, -1), INT64_MIN);
}

}  // namespace
}  // namespace nustream::noise
