// Fits where the unit is the user: what the parts cost together, and what is found of tables whose users have few or
// many records.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>

#include "nustream/ranges/histogram.h"
#include "nustream/ranges/likelihood_fit.h"
#include "nustream/ranges/linear_fit.h"
#include "nustream/ranges/rows.h"
#include "nustream/ranges/sizes.h"
#include "support/made_table.h"
#include "support/users_of_tables.h"

namespace nustream::ranges {
namespace {

using tests::any_number;
using tests::UsersTable;
constexpr std::size_t features = UsersTable::features;

TEST(PartRhos, AddUpToRhoForUsersAndAreAllOfItForRecords) {
  for (const double rho : {1e-3, 0.1, 1.0, 7.0}) {
    for (const std::size_t lengths : {2U, 3U}) {
      const PartRhos of_users = part_rhos(Rho{rho}, true, lengths);
      const double sum = (4 * of_users.columns.value() + static_cast<double>(lengths) * of_users.lengths.value()) +
                         of_users.pilot.value() + of_users.answer.value();
      EXPECT_LE(sum, rho);
      EXPECT_GE(sum, rho * (1 - 1e-9));
      const PartRhos of_records = part_rhos(Rho{rho}, false, lengths);
      EXPECT_EQ(of_records.columns, Rho{rho});
      EXPECT_EQ(of_records.answer, Rho{rho});
    }
  }
}

/// y = 5 + 2 a − 3 b + noise, with a about 100 ± 10, of users with about `each` records.
UsersTable linear(std::size_t rows, std::size_t each) {
  UsersTable made;
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < rows; ++i) {
    const double a = 100 + 10 * normal(random);
    const double b = normal(random);
    made.x.insert(made.x.end(), {a, b});
    made.y.push_back(5 + 2 * a - 3 * b + normal(random));
    made.users.push_back({0, 1 + random() % (rows / each), 0});
  }
  return made;
}

/// Noise of each release, and what the releases cost together: Σ Δ²/(2σ²), with Δ of a histogram of `bins` bins.
struct Costs {
  double rho = 0;
  std::size_t releases = 0;

  DrawNoise counted(std::uint8_t key) {
    return [this, keyed = tests::noise_of(key)](KeyStage stage, const noise::Grid& grid, std::size_t entries) {
      std::int64_t units = 0;
      const double one = 1;
      grid.round_noise({&one, 1}, {&units, 1});
      const double stddev = grid.to_gradient(units);
      double squares = 1;  // sums, in units of their radius
      if (stage == KeyStage::octaves) squares = static_cast<double>(entries / octave_bins);
      if (stage >= KeyStage::columns && stage <= KeyStage::second_zoom) {
        squares = static_cast<double>(entries / equal_bins);
      }
      if (stage == KeyStage::first_lengths || stage == KeyStage::second_lengths) squares = 2;
      rho += squares / (2 * stddev * stddev);
      ++releases;
      return keyed(stage, grid, entries);
    };
  }
};

// All releases of a fit meet the same user, so that they have to share ρ; without zooms some of it stays unspent.
TEST(LinearFitOfUsers, CostsNoMoreThanRhoInAllItsReleasesTogether) {
  const UsersTable made = linear(30'000, 3);
  Costs costs;
  const TableFit fit = fit_linear(made.table(), {Rho{2}}, costs.counted(0));
  ASSERT_FALSE(fit.is_stopped);
  EXPECT_EQ(costs.releases, 9 + fit.zooms);
  EXPECT_LE(costs.rho, 2 * (1 + 1e-6));
  EXPECT_GE(costs.rho, 2 * (0.8 + 0.1 * static_cast<double>(fit.zooms)) - 1e-3);
}

// With 3 records a user, hardly any are shortened. The slopes have standard errors of .01 by sampling.
TEST(LinearFitOfUsers, FindsRangesAndSlopes) {
  const UsersTable made = linear(30'000, 3);
  const TableFit fit = fit_linear(made.table(), {Rho{2}}, tests::noise_of(0));
  ASSERT_FALSE(fit.is_stopped);
  EXPECT_NEAR(fit.placements[0].centre, 100, 3);
  EXPECT_NEAR(fit.placements[0].scale, 10, 5);
  EXPECT_NEAR(fit.theta[1], 2, 0.1);
  EXPECT_NEAR(fit.theta[2], -3, 0.3);
  EXPECT_TRUE(fit.variances.empty()) << "rows of a user are no independent records";
}

// Of a user with hundreds of records a part counts only about one; that must not look like a table of which hardly
// anything is usable.
TEST(LinearFitOfUsers, IsNotStoppedWhereUsersAreBusy) {
  const UsersTable made = linear(100'000, 300);
  const TableFit fit = fit_linear(made.table(), {Rho{10}}, tests::noise_of(1));
  ASSERT_FALSE(fit.is_stopped);
  EXPECT_NEAR(fit.placements[0].centre, 100, 5);
  EXPECT_GT(fit.placements[0].scale, 5);
  EXPECT_LT(fit.placements[0].scale, 40);
  EXPECT_NEAR(fit.largest_second, 1, 3);
}

TEST(LinearFitOfUsers, ReadsNothingOfRecordsThatBelongToNobody) {
  UsersTable made = linear(30'000, 3);
  for (std::size_t i = 0; i < made.users.size(); i += 3) made.users[i] = {};
  const TableFit one = fit_linear(made.table(), {Rho{2}}, tests::noise_of(2));
  std::mt19937_64 random(3);
  for (std::size_t i = 0; i < made.users.size(); i += 3) {
    made.x[i * features] = any_number(random);
    made.y[i] = any_number(random);
  }
  const TableFit other = fit_linear(made.table(), {Rho{2}}, tests::noise_of(2));
  ASSERT_FALSE(one.is_stopped);
  EXPECT_EQ(one.theta, other.theta);
  EXPECT_EQ(one.placements, other.placements);
  EXPECT_EQ(one.pilot.residuals, other.pilot.residuals);
}

TEST(LikelihoodFitOfUsers, FindsRangesAndAStart) {
  UsersTable made = linear(40'000, 4);
  std::mt19937_64 random(5);
  for (std::size_t i = 0; i < made.y.size(); ++i) {
    const double predictor = (made.x[i * features] - 100) / 10 - made.x[i * features + 1];
    made.y[i] = std::bernoulli_distribution(1 / (1 + std::exp(-predictor)))(random) ? 1 : 0;
  }
  const TableFit fit = fit_likelihood(Likelihood::logistic, made.table(), {Rho{5}}, tests::noise_of(0));
  ASSERT_FALSE(fit.is_stopped);
  EXPECT_NEAR(fit.theta[1], 0.1, 0.03);
  EXPECT_NEAR(fit.theta[2], -1, 0.2);
  EXPECT_TRUE(fit.variances.empty());
  for (double& target : made.y) target = target * 3;
  EXPECT_FALSE(fit_likelihood(Likelihood::poisson, made.table(), {Rho{5}}, tests::noise_of(0)).is_stopped);
}

// Noise may hide the sum of all counts of residuals, which stands for the number of rows of users. A fit is then
// stopped, or has finite bounds.
TEST(FitOfUsers, HasFiniteBoundsWhereNoiseHidesTheNumberOfRows) {
  UsersTable made = linear(6'000, 150);
  for (std::uint8_t key = 0; key < 100; ++key) {
    const TableFit fit = fit_linear(made.table(), {Rho{1}}, tests::noise_of(key));
    EXPECT_TRUE(fit.is_stopped || std::isfinite(fit.bounds.residuals)) << int{key};
  }
  for (double& target : made.y) target = std::round(std::fabs(target) / 50);
  for (std::uint8_t key = 0; key < 100; ++key) {
    const TableFit fit = fit_likelihood(Likelihood::poisson, made.table(), {Rho{1.6}}, tests::noise_of(key));
    EXPECT_TRUE(fit.is_stopped || std::isfinite(fit.bounds.residuals)) << int{key};
  }
}

}  // namespace
}  // namespace nustream::ranges
