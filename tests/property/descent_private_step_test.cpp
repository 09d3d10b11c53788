// The private step against its definition, written out in exact arithmetic, for everything that takes such a step:
// each kernel, loop and moment. tests/planted demands that each of these tests fails where the definition is broken,
// so that no user of the step can go on with a copy of its own; tests/rooms/one_step_test.py looks for copies in all
// other sources.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "descent/private_step.h"
#include "support/private_step_users.h"

namespace nustream::tests {
namespace {

using Exact = __float128;

/// √square: the root in long double, improved by one step of Newton's method.
Exact root(Exact square) {
  const Exact first = sqrtl(static_cast<long double>(square));
  return first == 0 ? 0 : (first + square / first) / 2;
}

bool usable(const Record& record, bool overflow_is_zero) {
  for (const double slope : record.slopes) {
    for (const double entry : record.x) {
      if (!std::isfinite(slope) || !std::isfinite(entry)) return false;
      if (overflow_is_zero && !std::isfinite(slope * entry)) return false;
    }
  }
  return true;
}

/// g · min(1, R/‖g‖)/s, where R is the radius that the grid allows and s its spacing. It is not yet truncated to
/// integers.
std::vector<Exact> clipped_by_definition(const Record& record, const noise::Grid& grid, bool overflow_is_zero) {
  std::vector<Exact> gradient(record.slopes.size() * record.x.size());
  if (!usable(record, overflow_is_zero)) return gradient;
  Exact squares = 0;
  for (std::size_t j = 0; j < gradient.size(); ++j) {
    gradient[j] = static_cast<Exact>(record.slopes[j / record.x.size()]) * record.x[j % record.x.size()];
    gradient[j] /= grid.spacing();
    squares += gradient[j] * gradient[j];
  }
  const Exact radius = static_cast<Exact>(grid.clip_radius()) / grid.spacing();
  const Exact norm = root(squares);
  for (Exact& entry : gradient) entry *= norm > radius ? radius / norm : 1;
  return gradient;
}

/// A record whose vector has a size that suits every user of the step, with up to `columns_max` slopes that make its
/// gradient short, long or extreme.
Record drawn_record(std::mt19937_64& random, std::size_t columns_max) {
  constexpr std::size_t sizes[] = {3, 6, 10, 15, 21, 28, 36, 45, 136};
  std::normal_distribution<double> normal;
  Record record;
  record.x = adversarial(random, sizes[random() % std::size(sizes)]);
  // Three of four records have entries of the size that rows have.
  if (random() % 4 != 0) {
    for (double& entry : record.x) entry = normal(random);
  }
  for (std::size_t columns = 1 + random() % columns_max; columns > 0; --columns) {
    record.slopes.push_back(std::ldexp(normal(random), static_cast<int>(random() % 12) - 6));
  }
  if (random() % 10 == 0) record.slopes[0] = adversarial(random, 1)[0];
  if (random() % 50 == 0) record.x[random() % record.x.size()] = std::numeric_limits<double>::infinity();
  if (random() % 50 == 0) record.x[random() % record.x.size()] = std::nan("");
  return record;
}

class EveryClip : public ::testing::TestWithParam<ClipUser> {};

// A bound on the roundings of norm and radius, in units of the grid: a gradient is at most 2^35 units long, and d ≤
// 408.
constexpr double rounding = 0x1p-7;

TEST_P(EveryClip, IsTheDefinitionToTheUnit) {
  const ClipUser& user = GetParam();
  const noise::Grid grid(NoiseStddev{0.5}, 1.0, ClipNorm{3});
  std::mt19937_64 random(21);
  int exact = 0;
  for (int repetition = 0; repetition < 2000; ++repetition) {
    Record record = drawn_record(random, user.columns_max);
    const std::vector<std::int64_t> units = user.units(record, grid);
    const std::vector<Exact> expected = clipped_by_definition(record, grid, user.overflow_is_zero);
    ASSERT_EQ(units.size(), expected.size());
    for (std::size_t j = 0; j < units.size(); ++j) {
      const auto whole = static_cast<std::int64_t>(expected[j]);  // towards zero
      const Exact rest = expected[j] < 0 ? whole - expected[j] : expected[j] - whole;
      const bool clear = rest > rounding && rest < 1 - rounding;
      ASSERT_LE(std::abs(units[j] - whole), clear ? 0 : 1) << repetition << ' ' << j;
      exact += clear ? 1 : 0;
    }
  }
  EXPECT_GT(exact, 20'000);  // of 66,000 entries or more, most of which are of an ordinary size
}

TEST_P(EveryClip, IsNeverLongerThanTheClipNorm) {
  const ClipUser& user = GetParam();
  std::mt19937_64 random(22);
  int longer = 0;
  for (int repetition = 0; repetition < 2000; ++repetition) {
    const double clip_norm = std::ldexp(1.0 + static_cast<double>(random() % 1000) / 1000, repetition % 20 - 10);
    // The clip norm is up to 2^18 standard deviations of noise, so that the finest grid that is allowed is tested,
    // and coarser ones.
    const noise::Grid grid(NoiseStddev{clip_norm * std::ldexp(1.01, -(repetition % 18))}, 1.0, ClipNorm{clip_norm});
    Record record = drawn_record(random, user.columns_max);
    for (double& entry : record.x) entry *= 0x1p12;
    const std::vector<std::int64_t> units = user.units(record, grid);
    ASSERT_TRUE(within(units, grid, clip_norm, 1)) << repetition;
    longer += within(units, grid, clip_norm * (1 - 0x1p-20), 1) ? 0 : 1;
  }
  EXPECT_GT(longer, 1000);  // gradients that are cut to G, up to rounding
}

INSTANTIATE_TEST_SUITE_P(Users, EveryClip, ::testing::ValuesIn(clip_users()),
                         [](const auto& user) { return user.param.name; });

class EveryStep : public ::testing::TestWithParam<NoiseUser> {};

// The sum and its noise meet as integers: their addition saturates, and the result is converted to double once.
TEST_P(EveryStep, AddsItsNoiseAsIntegers) {
  const NoiseUser& user = GetParam();
  const noise::Grid grid(NoiseStddev{0.5}, 1.0, ClipNorm{3});
  std::mt19937_64 random(23);
  constexpr std::int64_t hard[] = {0,
                                   1,
                                   -1,
                                   INT64_MAX,
                                   INT64_MIN,
                                   INT64_MAX - 1,
                                   INT64_MIN + 1,
                                   (std::int64_t{1} << 53) + 1,
                                   -(std::int64_t{1} << 60) - 3};
  for (int repetition = 0; repetition < 2000; ++repetition) {
    Record record = drawn_record(random, user.columns_max);
    std::vector<std::int64_t> noise(record.slopes.size() * record.x.size());
    Record same = record;
    const std::vector<double> sum = user.noisy(same, grid, noise);
    for (std::int64_t& unit : noise) {
      unit = repetition % 2 == 0 ? hard[random() % std::size(hard)] : static_cast<std::int64_t>(random()) >> 20;
    }
    const std::vector<double> noisy = user.noisy(record, grid, noise);
    ASSERT_EQ(noisy.size(), noise.size());
    for (std::size_t j = 0; j < noise.size(); ++j) {
      const __int128 total = static_cast<__int128>(sum[j]) + noise[j];
      const __int128 held = total > INT64_MAX ? INT64_MAX : total < INT64_MIN ? INT64_MIN : total;
      ASSERT_EQ(noisy[j], static_cast<double>(static_cast<std::int64_t>(held))) << repetition << ' ' << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Users, EveryStep, ::testing::ValuesIn(noise_users()),
                         [](const auto& user) { return user.param.name; });

constexpr __int128 wide_max = ~(static_cast<__int128>(1) << 127);

TEST(AddNoise, TakesSumsOf128BitsAndSaturates) {
  const descent::WideUnits sum = static_cast<__int128>(INT64_MAX) * 1024;
  EXPECT_EQ(descent::add_noise(sum, descent::WideUnits{1024}), 0x1p73);
  EXPECT_TRUE(descent::noised(wide_max, descent::WideUnits{5}) == wide_max);
  EXPECT_TRUE(descent::noised(-wide_max, descent::WideUnits{-5}) == -wide_max - 1);
  EXPECT_TRUE(descent::noised(wide_max, descent::WideUnits{-5}) == wide_max - 5);
}

// The clips of sums and ranges have the bits of the formulas that they stand for.
TEST(Shorten, HoldsRowsSharesAndNumbers) {
  std::mt19937_64 bits(7);
  std::normal_distribution<double> normal;
  for (int repetition = 0; repetition < 100'000; ++repetition) {
    const double a = std::ldexp(normal(bits), static_cast<int>(bits() % 40) - 20);
    const double b = std::fabs(std::ldexp(normal(bits), static_cast<int>(bits() % 40) - 20));
    ASSERT_EQ(descent::clamp_to(a, b), std::clamp(a, -b, b));
    ASSERT_EQ(descent::share_within(std::fabs(a), b), std::min(1.0, b / std::fabs(a)));
    const double v[] = {a, normal(bits)};
    // Now and then the row's length is the radius, to the last bits.
    const double squares = a * a + v[1] * v[1];
    const double radius = repetition % 2 == 0 ? b : std::sqrt(squares) * (1 + std::ldexp(repetition % 7 - 3, -52));
    const double wanted = squares <= radius * radius ? 1 / radius : 1 / std::sqrt(squares);
    ASSERT_EQ(descent::row_factor(v, squares, radius), wanted);
  }
}

TEST(Shorten, TakesRowsWhoseSquaresOverflow) {
  const double v[] = {3e200, 4e200};
  EXPECT_DOUBLE_EQ(descent::row_factor(v, HUGE_VAL, 2), 1 / 5e200);
  const double infinite[] = {3e200, HUGE_VAL};
  EXPECT_TRUE(std::isnan(descent::row_factor(infinite, HUGE_VAL, 2)));
  EXPECT_TRUE(std::isnan(descent::clamp_to(std::nan(""), 1)));
  EXPECT_EQ(descent::share_within(0, 0), 1);
}

}  // namespace
}  // namespace nustream::tests
