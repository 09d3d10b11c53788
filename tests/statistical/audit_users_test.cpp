// Audits with a canary user, to whom all records of a game belong. What the adversary proves comes close to what the
// limits claim, and never above it.
//
// Keys are the system's randomness, as in a real audit. Each bound is wrong with probability 1e-3. It is compared
// with the claim plus what one standard error moves it, which makes a false alarm some 1e-5.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "audit/audit.h"
#include "campaign.h"
#include "example_config.h"
#include "expect_failure.h"
#include "nustream/base/error.h"
#include "temporary_folder.h"

namespace nustream::audit {
namespace {

config::Config settings(const std::string& text, const std::vector<std::string>& limits,
                        const std::vector<std::string>& more = {}) {
  const tests::TemporaryFolder folder;
  std::vector<std::string> overrides{"privacy.unit=user", "privacy.user=who", "privacy.rho=2"};
  for (const std::string& limit : limits) overrides.push_back("users." + limit);
  overrides.insert(overrides.end(), more.begin(), more.end());
  return config::read_config(folder.write("audit.toml", text), overrides);
}

Options games(std::uint64_t runs) {
  Options options;
  options.steps = 16;
  options.runs = runs;
  return options;
}

const std::vector<std::vector<std::string>> reached{
    {"participations=1"}, {"participations=4", "separation=3"},           {"participations=16"}, {"mass=1"},
    {"mass=0.25"},        {"participations=2", "separation=5", "mass=20"}};

/// Limits for the slower tests: a count and a mass here, and all of them in a campaign.
std::vector<std::vector<std::string>> of_this_run() {
  if (tests::campaign()) return reached;
  return {reached.at(1), {"mass=1"}};
}

// In minibatches every record of a step is the canary's. If each were clipped by itself, or if a step counted that
// the limits do not let in, more would be proven than is claimed.
TEST(AuditOfUsers, ProvesNearlyAllOfTheClaimAndNeverMore) {
  for (const char* adjacency : {"privacy.adjacency=zero-out", "privacy.adjacency=replace-one"}) {
    for (const std::vector<std::string>& limits : reached) {
      const config::Config config =
          settings(tests::example_config(), limits, {adjacency, "descent.minibatch=3", "descent.step_size=1e-4"});
      const Finding finding = audit(config, config::Purpose::stream, games(20'000));
      EXPECT_LE(finding.mu_bound, finding.mu * 1.01) << limits.front() << ' ' << adjacency;
      EXPECT_GE(finding.mu_bound, 0.9 * finding.mu) << limits.front() << ' ' << adjacency;
      EXPECT_LE(finding.epsilon_bound, finding.epsilon * 1.02) << limits.front() << ' ' << adjacency;
      EXPECT_NEAR(finding.mu_of_filter, finding.mu, 1e-6 * finding.mu) << limits.front() << ' ' << adjacency;
      EXPECT_LT(finding.shorter_share(), 0.01) << limits.front() << ' ' << adjacency;
    }
  }
}

// The columns are clamped so that no single record is as long as the clip norm, but three of them in a step are.
TEST(AuditOfUsers, LetsAContributionBeASumOfRows) {
  const std::vector<std::string> short_rows{"descent.minibatch=3", "descent.step_size=1e-4", "descent.clip_norm=2.0",
                                            "features.0.clamp=[-0.5, 0.5]", "target.clamp=[-1, 1]"};
  const config::Config config = settings(tests::example_config(), {"participations=1"}, short_rows);
  const Finding finding = audit(config, config::Purpose::stream, games(20'000));
  EXPECT_LE(finding.mu_bound, finding.mu * 1.01);
  EXPECT_GE(finding.mu_bound, 0.9 * finding.mu);
}

// No pattern reaches the claim of a mass above 1 (by the triangle inequality), because each step takes 1 of it at
// most.
TEST(AuditOfUsers, OfALargeMassProvesLessThanIsClaimed) {
  const Finding finding = audit(settings(tests::example_config(), {"mass=4"}, {"descent.step_size=1e-4"}),
                                config::Purpose::stream, games(20'000));
  EXPECT_LT(finding.mu_of_filter, finding.mu);
  EXPECT_GT(finding.mu_of_filter, 0.5 * finding.mu);
  EXPECT_LE(finding.mu_bound, finding.mu_of_filter * 1.01);
  EXPECT_GE(finding.mu_bound, 0.9 * finding.mu_of_filter);
}

// A step of running sums has four rows of the canary here, as long as the radii each. If each row were clipped by
// itself, more would be proven than is claimed.
TEST(AuditOfUsers, PlaysRunningSums) {
  for (const std::vector<std::string>& limits : reached) {
    const config::Config config = settings(tests::moments_config(), limits, {"intervals.kind=none"});
    const Finding finding = audit(config, config::Purpose::stream, games(12'000));
    EXPECT_LE(finding.mu_bound, finding.mu * 1.02) << limits.front();
    EXPECT_LE(finding.epsilon_bound, finding.epsilon * 1.03) << limits.front();
    EXPECT_GE(finding.mu_bound, 0.84 * finding.mu) << limits.front();
    EXPECT_NEAR(finding.mu_of_filter, finding.mu, 1e-6 * finding.mu) << limits.front();
    EXPECT_LT(finding.shorter_share(), 0.01) << limits.front();
  }
}

// The columns are clamped so that no row is a fourth as long as a batch of a user may be, as row_norm is to be
// chosen. The sums of all rows in a step, of up to 50 records, are as long as both radii at once.
TEST(AuditOfUsers, LetsAContributionToRunningSumsBeASumOfRows) {
  const std::vector<std::string> short_rows{"features.0.clamp=[-1, 1]", "features.1.clamp=[-1, 1]",
                                            "moments.row_norm=7",       "moments.residual_bound=3",
                                            "release.every=50",         "intervals.kind=none"};
  for (const std::vector<std::string>& limits : of_this_run()) {
    const Finding finding =
        audit(settings(tests::moments_config(), limits, short_rows), config::Purpose::stream, games(12'000));
    EXPECT_LE(finding.mu_bound, finding.mu * 1.02) << limits.front();
    EXPECT_GE(finding.mu_bound, 0.82 * finding.mu) << limits.front();
  }
}

// With another user in the canary's place no step shows what is claimed, since two users' sums of xxᵀ are never
// opposite. With nothing in its place each block moves by its radius. Runs of 12,000 games prove .84 ± .03 of so
// small a μ, so that the bar of .7 is missed by chance less than once in a million runs.
TEST(AuditOfUsers, PlaysPairsOfUsersInRunningSums) {
  const Finding finding = audit(settings(tests::moments_config(), {"participations=4", "separation=3"},
                                         {"intervals.kind=none", "privacy.adjacency=replace-one"}),
                                config::Purpose::stream, games(12'000));
  EXPECT_LE(finding.mu_bound, finding.mu * 1.02);
  EXPECT_GE(finding.mu_bound, 0.5 * finding.mu);
  ASSERT_TRUE(finding.against_nothing);
  EXPECT_NEAR(finding.against_nothing->rho / finding.rho, 0.25, 1e-6);
  EXPECT_LE(finding.against_nothing->mu_bound, finding.against_nothing->mu * 1.03);
  EXPECT_GE(finding.against_nothing->mu_bound, 0.7 * finding.against_nothing->mu);
}

// A table of running sums: four steps, each of them with rows of the canary alone.
TEST(AuditOfUsers, PlaysATableOfRunningSumsAsAUserInEveryStep) {
  const config::Config config = [] {
    const tests::TemporaryFolder folder;
    return config::read_config(
        folder.write("audit.toml", tests::moments_config() + "[estimate]\n"),
        {"privacy.unit=user", "privacy.user=who", "privacy.adjacency=zero-out", "intervals.kind=none"},
        config::Purpose::table);
  }();
  const Finding finding = audit(config, config::Purpose::table, games(12'000));
  EXPECT_EQ(finding.steps, 4U);
  EXPECT_NEAR(finding.mu_of_filter, finding.mu, 1e-6 * finding.mu);
  EXPECT_LE(finding.mu_bound, finding.mu * 1.02);
  EXPECT_GE(finding.mu_bound, 0.84 * finding.mu);
}

// A user of a table may have rows in each of the table's minibatches.
TEST(AuditOfUsers, PlaysATableAsAUserInEveryStep) {
  const config::Config config = [] {
    const tests::TemporaryFolder folder;
    return config::read_config(folder.write("audit.toml", tests::example_config() + "[estimate]\nsteps = 6\n"),
                               {"privacy.unit=user", "privacy.user=who", "privacy.rho=2",
                                "noise.correlation=independent", "descent.minibatch=2", "descent.step_size=1e-4"},
                               config::Purpose::table);
  }();
  Options options = games(20'000);
  options.records = 6;
  const Finding finding = audit(config, config::Purpose::table, options);
  EXPECT_NEAR(finding.rho, 2, 1e-9);
  EXPECT_NEAR(finding.mu_of_filter, finding.mu, 1e-6 * finding.mu);
  EXPECT_LE(finding.mu_bound, finding.mu * 1.01);
  EXPECT_GE(finding.mu_bound, 0.9 * finding.mu);
}

const std::vector<std::string> within_a_day{"stream.time=when", "users.period=P1D", "users.times=trusted"};

std::vector<std::string> joined(std::vector<std::string> first, const std::vector<std::string>& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

// The claim is about one window. Within a window it holds as it holds for ever where there are no windows.
TEST(AuditOfUsers, ProvesNearlyAllOfTheClaimWithinAWindow) {
  for (const std::vector<std::string>& limits : reached) {
    const config::Config config = settings(tests::example_config(), limits,
                                           joined({"descent.minibatch=3", "descent.step_size=1e-4"}, within_a_day));
    const Finding finding = audit(config, config::Purpose::stream, games(20'000));
    EXPECT_LE(finding.mu_bound, finding.mu * 1.01) << limits.front();
    EXPECT_GE(finding.mu_bound, 0.9 * finding.mu) << limits.front();
    EXPECT_NEAR(finding.mu_of_filter, finding.mu, 1e-6 * finding.mu) << limits.front();
  }
}

// A canary with records in two windows contributes in both as its limits allow, in neighbouring steps at the border.
// It shows all that two windows are claimed to cost together, which is more than one window and less than P²ρ. If a
// last step survived the border, the second window's first contributions would be missing, and less would be proven.
// If the claim took the steps at the border to lie b apart, more would be proven than is claimed.
TEST(AuditOfUsers, OfTwoWindowsProvesNearlyAllThatBothCostTogetherAndNeverMore) {
  for (const std::vector<std::string>& limits : of_this_run()) {
    for (const std::string& text : {tests::example_config(), tests::moments_config()}) {
      const bool sums = text == tests::moments_config();
      const config::Config config =
          settings(text, limits,
                   joined(sums ? std::vector<std::string>{"intervals.kind=none"}
                               : std::vector<std::string>{"descent.minibatch=3", "descent.step_size=1e-4"},
                          within_a_day));
      Options options = games(sums ? 12'000 : 20'000);
      const double of_one = audit(config, config::Purpose::stream, games(1000)).mu;  // the claim; no game tells it
      options.windows = 2;
      const Finding finding = audit(config, config::Purpose::stream, options);
      EXPECT_GT(finding.mu, of_one) << limits.front() << sums;
      EXPECT_LT(finding.mu, 1.99 * of_one) << limits.front() << sums;
      EXPECT_NEAR(finding.mu_of_filter, finding.mu, 1e-6 * finding.mu) << limits.front() << sums;
      EXPECT_LE(finding.mu_bound, finding.mu * 1.02) << limits.front() << sums;
      EXPECT_GE(finding.mu_bound, (sums ? 0.84 : 0.9) * finding.mu) << limits.front() << sums;
    }
  }
}

// Four windows of a step's length follow each other, and so do the four contributions.
TEST(AuditOfUsers, OfFourWindowsPlaysShortOnes) {
  const config::Config config = settings(tests::example_config(), {"participations=1"},
                                         joined({"descent.minibatch=3", "descent.step_size=1e-4"}, within_a_day));
  Options options = games(20'000);
  options.windows = 4;
  const Finding finding = audit(config, config::Purpose::stream, options);
  EXPECT_NEAR(finding.mu_of_filter, finding.mu, 1e-6 * finding.mu);
  EXPECT_LE(finding.mu_bound, finding.mu * 1.02);
  EXPECT_GE(finding.mu_bound, 0.9 * finding.mu);
}

// Two epochs have noise of their own, and the same user is in both. Where the user's counts carry over, it spreads
// one set of limits over both in the worst way; otherwise it begins anew. The claim is the ledger's total. If an
// epoch began with other counts than that, the steps that the adversary looks at would be empty, and less would be
// proven.
TEST(AuditOfUsers, OfTwoEpochsProvesNearlyAllOfTheTotalAndNeverMore) {
  for (const std::vector<std::string>& limits : of_this_run()) {
    for (const bool keeps_counts : {true, false}) {
      for (const std::string& text : {tests::example_config(), tests::moments_config()}) {
        const bool sums = text == tests::moments_config();
        if (sums && (keeps_counts || limits.size() < 2)) continue;
        const config::Config config =
            settings(text, limits,
                     sums ? std::vector<std::string>{"intervals.kind=none"}
                          : std::vector<std::string>{"descent.minibatch=3", "descent.step_size=1e-4"});
        Options options = games(sums ? 12'000 : 20'000);
        options.epochs = 2;
        options.keeps_counts = keeps_counts;
        const Finding finding = audit(config, config::Purpose::stream, options);
        const std::string what = limits.front() + (keeps_counts ? " kept" : " lost") + (sums ? " sums" : "");
        EXPECT_NEAR(finding.mu_of_filter, finding.mu, 1e-6 * finding.mu) << what;
        EXPECT_LE(finding.mu_bound, finding.mu * 1.02) << what;
        EXPECT_GE(finding.mu_bound, (sums ? 0.84 : 0.9) * finding.mu) << what;
        EXPECT_LE(finding.epsilon_bound, finding.epsilon * 1.02) << what;
      }
    }
  }
}

// Epochs add up, and each of them costs what its two windows cost together.
TEST(AuditOfUsers, OfTwoEpochsOfTwoWindowsProvesNearlyAllThatTheyCostAndNeverMore) {
  for (const std::vector<std::string>& limits : of_this_run()) {
    const config::Config config = settings(tests::example_config(), limits,
                                           joined({"descent.minibatch=3", "descent.step_size=1e-4"}, within_a_day));
    Options options = games(1000);
    options.windows = 2;
    const double of_one_epoch = audit(config, config::Purpose::stream, options).rho;  // the claim of one epoch
    options.runs = 20'000;
    options.epochs = 2;
    options.steps = 32;
    const Finding finding = audit(config, config::Purpose::stream, options);
    EXPECT_NEAR(finding.rho, 2 * of_one_epoch, 1e-6 * of_one_epoch) << limits.front();
    EXPECT_NEAR(finding.mu_of_filter, finding.mu, 1e-6 * finding.mu) << limits.front();
    EXPECT_LE(finding.mu_bound, finding.mu * 1.02) << limits.front();
    EXPECT_GE(finding.mu_bound, 0.9 * finding.mu) << limits.front();
  }
}

TEST(AuditOfUsers, TakesItsStepsFromTheLimitsAlone) {
  Options options = games(1000);
  options.passes = 2;
  tests::expect_failure(
      Exit::usage,
      [&] {
        static_cast<void>(
            audit(settings(tests::example_config(), {"participations=2"}), config::Purpose::stream, options));
      },
      "[users] says");
}

}  // namespace
}  // namespace nustream::audit
