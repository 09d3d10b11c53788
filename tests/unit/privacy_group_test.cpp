// What a person with several records is promised.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/privacy/group.h"

namespace nustream::privacy {
namespace {

Spend taken_once(noise::Correlation correlation) {
  return {std::move(correlation), Participation::once(), NoiseMultiplier{2}};
}

TEST(GroupBound, IsTheSquareOfTheRecordsAndNeverTooSmall) {
  EXPECT_EQ(group_bound(Rho{0.1}, 1), Rho{0.1});
  EXPECT_GE(group_bound(Rho{0.1}, 10).value(), 10.0);
  EXPECT_NEAR(group_bound(Rho{0.1}, 10).value(), 10.0, 1e-13);
  EXPECT_NEAR(group_bound(Rho{0.1}, 100).value(), 1000.0, 1e-11);
  EXPECT_EQ(group_bound(Rho{1e308}, 1000).value(), std::numeric_limits<double>::max());
  EXPECT_THROW((void)group_bound(Rho{0.1}, 0), InvalidParameter);
}

// The columns of the identity are orthogonal: g records cost g times as much as one, and not g² times.
TEST(GroupLimit, OfIndependentNoiseAddsUp) {
  const Spend spend = taken_once(noise::Correlation{noise::Independent{}});
  EXPECT_NEAR(group_limit(spend, 10).value(), 10 * spend.limit().value(), 1e-12);
  EXPECT_NEAR(group_limit(spend, 100).value(), 100 * spend.limit().value(), 1e-11);
}

/// ‖Σ_{i<g} C e_i‖² of an encoder whose first column `c` falls and is not negative, written out.
double squared_sum_of_columns(const std::vector<double>& c, std::uint64_t records) {
  double squared = 0;
  for (std::size_t row = 0; row < c.size(); ++row) {
    double sum = 0;
    for (std::size_t column = 0; column < records && column <= row; ++column) sum += c[row - column];
    squared += sum * sum;
  }
  return squared;
}

// The c of exact ν-FTRL is c_k = (1 − ν)^k · binom(−1/2, k)(−1)^k (CDP+ section 2).
TEST(GroupLimit, OfNuIsTheSumOfAdjacentColumnsWrittenOut) {
  constexpr std::uint64_t steps = 400;
  constexpr double nu = 0.02;
  std::vector<double> c{1};
  for (std::uint64_t k = 1; k < steps; ++k) {
    c.push_back(c.back() * (1 - nu) * (2.0 * static_cast<double>(k) - 1) / (2.0 * static_cast<double>(k)));
  }
  const Spend spend = taken_once(noise::Correlation{noise::NuFtrl{Damping{nu}, StepCount{steps}}});
  ASSERT_NEAR(spend.limit().value(), squared_sum_of_columns(c, 1) / 8, 1e-12);
  for (const std::uint64_t records : {2U, 10U, 100U}) {
    const double exact = squared_sum_of_columns(c, records) / 8;
    EXPECT_NEAR(group_limit(spend, records).value(), exact, 1e-9 * exact) << records;
    EXPECT_LT(group_limit(spend, records), group_bound(spend.limit(), records)) << records;
  }
}

TEST(GroupLimit, GrowsWithTheGroupAndStaysBelowTheBound) {
  const Spend spend = taken_once(noise::Correlation{noise::Rational::nu_ftrl(Damping{1e-3})});
  Rho before = spend.limit();
  EXPECT_EQ(group_limit(spend, 1), before);
  for (const std::uint64_t records : {2U, 5U, 10U, 50U, 100U}) {
    const Rho rho = group_limit(spend, records);
    EXPECT_GT(rho, before);
    EXPECT_LE(rho, group_bound(spend.limit(), records));
    EXPECT_GE(rho.value(), static_cast<double>(records) * spend.limit().value());
    before = rho;
  }
}

TEST(GroupLimit, OfSeveralMechanismsIsTheirSum) {
  const Spend one = taken_once(noise::Correlation{noise::Independent{}});
  EXPECT_NEAR(group_limit(one.beside(one), 10).value(), 20 * one.limit().value(), 1e-11);
}

// Where a record's participations interleave with those of the rest of the group, only the bound is known.
TEST(GroupLimit, OfSeveralPassesIsTheBound) {
  const Spend spend{noise::Correlation{noise::Independent{}}, Participation{3, 100}, NoiseMultiplier{2}};
  EXPECT_EQ(group_limit(spend, 10), group_bound(spend.limit(), 10));
}

}  // namespace
}  // namespace nustream::privacy
