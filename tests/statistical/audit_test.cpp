// Audits of the pipeline as it is, and of a pipeline whose noise is too small. A claim that holds is never exceeded
// by more than the stated confidence allows, and the bounds come close to it. A claim that does not hold is exceeded.
//
// Keys are the system's randomness, as in a real audit. Each bound is wrong with probability 1e-3, and there are some
// thirty-five bounds here, so a run in forty might show one. Bounds are therefore compared with the claim plus what
// one standard error moves them, which makes a false alarm one in 10⁵.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include <fmt/format.h>

#include "audit/audit.h"
#include "audit/canary.h"
#include "audit/statistic.h"
#include "example_config.h"
#include "expect_failure.h"
#include "nustream/privacy/epsilon.h"
#include "temporary_folder.h"

namespace nustream::audit {
namespace {

config::Config settings(const tests::TemporaryFolder& folder, const std::vector<std::string>& overrides) {
  return config::read_config(folder.write("audit.toml", tests::example_config()), overrides);
}

TEST(ClopperPearson, AgreesWithTables) {
  // The numbers are scipy.stats.binomtest(7, 50).proportion_ci(0.95, "exact"): 0.0582…, 0.2674…
  EXPECT_NEAR(proportion_lower(7, 50, 0.025), 0.05819170, 1e-7);
  EXPECT_NEAR(proportion_upper(7, 50, 0.025), 0.26739600, 1e-7);
  EXPECT_EQ(proportion_lower(0, 50, 0.025), 0);
  EXPECT_EQ(proportion_upper(50, 50, 0.025), 1);
  EXPECT_NEAR(proportion_upper(0, 50, 0.025), 1 - std::pow(0.025, 1.0 / 50), 1e-12);
}

TEST(Bounds, OfAnHonestGaussianAreBelowItsCurve) {
  for (const double mu : {0.2, 0.5, 1.0, 2.0}) {
    const double epsilon = privacy::epsilon(Rho{mu * mu / 2}, Delta{1e-2}).value();
    const Confidence confidence;
    const std::uint64_t runs = 100'000'000;
    const Thresholds thresholds = thresholds_for(mu, 1e-2, runs, confidence);
    const auto counts = [&](double threshold) {
      const auto share = [&](double x) {
        return static_cast<std::uint64_t>(std::erfc(-x / std::sqrt(2.0)) / 2 * static_cast<double>(runs));
      };
      return Counts{runs, share(-threshold), share(mu - threshold)};
    };
    const double bound = epsilon_lower_bound(counts(thresholds.epsilon), 1e-2, confidence);
    EXPECT_LE(bound, epsilon);
    EXPECT_GE(bound, 0.9 * epsilon) << mu;
    const double mu_bound = mu_lower_bound(counts(thresholds.mu), confidence);
    EXPECT_LE(mu_bound, mu);
    EXPECT_GE(mu_bound, 0.99 * mu);
  }
}

// How often honest audits exceed their claim, at a level where this can be counted: 20,000 audits in worlds that are
// N(0, 1) and N(mu, 1). At most a tenth of them may; three standard errors are .0064.
TEST(Bounds, AreExceededNoMoreOftenThanTheLevelSays) {
  std::mt19937_64 random(41);
  const Confidence confidence{0.9};
  constexpr int audits = 20'000;
  constexpr std::uint64_t runs = 10'000;
  for (const double mu : {0.3, 1.0, 2.0}) {
    const double epsilon = privacy::epsilon(Rho{mu * mu / 2}, Delta{1e-2}).value();
    const Thresholds thresholds = thresholds_for(mu, 1e-2, runs, confidence);
    const auto counts = [&](double threshold) {
      const auto above = [&](double mean) {
        return std::binomial_distribution<std::uint64_t>(runs,
                                                         std::erfc((threshold - mean) / std::sqrt(2.0)) / 2)(random);
      };
      const std::uint64_t without = above(0);
      return Counts{runs, without, above(mu)};
    };
    int epsilon_exceeded = 0;
    int mu_exceeded = 0;
    for (int i = 0; i < audits; ++i) {
      epsilon_exceeded += epsilon_lower_bound(counts(thresholds.epsilon), 1e-2, confidence) > epsilon ? 1 : 0;
      mu_exceeded += mu_lower_bound(counts(thresholds.mu), confidence) > mu ? 1 : 0;
    }
    EXPECT_LE(epsilon_exceeded, audits * 0.1064) << mu;
    EXPECT_LE(mu_exceeded, audits * 0.1064) << mu;
    // Half of the level is spent on each rate, and both have to err before a bound does. Some bounds must err all the
    // same: otherwise they would say nothing.
    EXPECT_GT(mu_exceeded, 0) << mu;
    ::testing::Test::RecordProperty(fmt::format("exceeded_at_mu_{}", mu),
                                    fmt::format("{} {}", epsilon_exceeded, mu_exceeded));
  }
}

struct Case {
  const char* name;
  std::vector<std::string> overrides;
  std::uint64_t passes = 1;
};

TEST(Audit, ProvesNearlyAllOfTheClaimAndNeverMore) {
  const std::vector<Case> cases{{"rational", {}},
                                {"independent", {"noise.correlation=independent"}},
                                {"nu", {"noise.correlation=nu", "noise.horizon=8"}},
                                {"windowed", {"noise.correlation=windowed", "noise.window=4"}},
                                {"tree", {"noise.correlation=tree", "noise.height=3"}},
                                {"replace-one", {"privacy.adjacency=replace-one"}},
                                {"minibatches", {"descent.minibatch=3"}},
                                {"two passes", {}, 2}};
  for (const Case& each : cases) {
    const tests::TemporaryFolder folder;
    std::vector<std::string> overrides = each.overrides;
    overrides.emplace_back("privacy.rho=2");
    const config::Config config = settings(folder, overrides);
    Options options;
    options.passes = each.passes;
    options.runs = 30'000;
    const Finding finding = audit(config, config::Purpose::stream, options);
    EXPECT_LE(finding.mu_bound, finding.mu * 1.01) << each.name;
    EXPECT_GE(finding.mu_bound, 0.93 * finding.mu) << each.name;
    EXPECT_LE(finding.epsilon_bound, finding.epsilon * 1.02) << each.name;
    EXPECT_NEAR(finding.mu_of_filter, finding.mu, 1e-6 * finding.mu) << each.name;
  }
}

// The worst record may move a single coordinate: that of the intercept, or that of a feature where there is no
// intercept.
TEST(Audit, PlaysARecordThatMovesOneCoordinate) {
  for (const char* intercept : {"model.intercept=true", "model.intercept=false"}) {
    const tests::TemporaryFolder folder;
    const config::Config config = settings(folder, {"privacy.rho=2", intercept});
    Options options;
    options.along_axis = true;
    const config::Mechanism mechanism = make_mechanism(config, privacy::Participation::once());
    const Canary canary = find_canary(config, mechanism, {options.steps, {0}, true}, Absent::neighbour);
    EXPECT_EQ(std::count_if(canary.row.x.begin(), canary.row.x.end(), [](double x) { return x != 0; }), 1)
        << intercept;
    options.runs = 30'000;
    const Finding finding = audit(config, config::Purpose::stream, options);
    EXPECT_LE(finding.mu_bound, finding.mu * 1.01) << intercept;
    EXPECT_GE(finding.mu_bound, 0.93 * finding.mu) << intercept;
  }
}

// Losses whose slopes are bounded or grow: the canary's gradient has to stay as long as the clip norm while it moves
// the iterate, or the adversary sees less than is claimed.
TEST(Audit, PlaysEveryLoss) {
  for (const char* loss : {"logistic", "multinomial", "poisson", "huber", "quantile", "mean"}) {
    for (const char* adjacency : {"zero-out", "replace-one"}) {
      const tests::TemporaryFolder folder;
      std::vector<std::string> overrides{std::string("model.loss=") + loss,
                                         std::string("privacy.adjacency=") + adjacency, "privacy.rho=2",
                                         "descent.step_size=1e-5"};
      std::string text = tests::example_config();
      if (loss == std::string_view("multinomial")) overrides.emplace_back("model.classes=3");
      if (loss == std::string_view("mean")) {
        overrides.emplace_back("model.intercept=false");
        text.erase(text.find("[target]"), text.find("[[features]]") - text.find("[target]"));
      }
      const config::Config config = config::read_config(folder.write("audit.toml", text), overrides);
      Options options;
      options.passes = 4;
      options.runs = 6'000;
      const Finding finding = audit(config, config::Purpose::stream, options);
      EXPECT_LE(finding.mu_bound, finding.mu * 1.02) << loss << ' ' << adjacency;
      EXPECT_GE(finding.mu_bound, 0.84 * finding.mu) << loss << ' ' << adjacency;
      EXPECT_LT(finding.shorter_share(), 0.01) << loss << ' ' << adjacency;
    }
  }
}

// One step takes the iterate to a place where a logistic slope is flat.
TEST(Audit, SaysWhereTheRecordShowsLessThanIsClaimed) {
  const tests::TemporaryFolder folder;
  Options options;
  options.passes = 8;
  options.runs = 6'000;
  const Finding finding = audit(settings(folder, {"model.loss=logistic", "privacy.rho=2", "descent.step_size=5"}),
                                config::Purpose::stream, options);
  EXPECT_FALSE(finding.exceeded());
  EXPECT_GT(finding.shorter_share(), 0.2);
  EXPECT_LT(finding.mu_bound, 0.8 * finding.mu);
}

TEST(Audit, PlaysColumnsWhoseNamesHoldTheDelimiter) {
  const tests::TemporaryFolder folder;
  const config::Config config = settings(folder, {"features.0.column='wait \"time\", min'"});
  Options options;
  options.runs = 1000;
  EXPECT_GT(audit(config, config::Purpose::stream, options).mu_bound, 0);
}

// Settings of a topic: what comes beside a record's value is no column of the value, and neither is its time.
TEST(Audit, PlaysSettingsOfATopic) {
  const tests::TemporaryFolder folder;
  Options options;
  options.runs = 4000;
  const std::vector<std::string> columns{"stream.time=@timestamp", "features.0.column='@header:dose'",
                                         "privacy.rho=1"};
  for (const std::vector<std::string>& format :
       {std::vector<std::string>{"stream.format=json"},
        {"stream.header=false", "stream.columns=['y']"},
        {"stream.header=false", "stream.columns=['at', 'y']", "stream.time=at"}}) {
    std::vector<std::string> overrides = columns;
    overrides.insert(overrides.end(), format.begin(), format.end());
    const Finding finding = audit(settings(folder, overrides), config::Purpose::stream, options);
    EXPECT_EQ(finding.verdict(), Verdict::holds);
    EXPECT_GT(finding.mu_bound, 0.7 * finding.mu);
  }
}

TEST(Audit, PlaysMembersWhoseNamesAreEscaped) {
  const tests::TemporaryFolder folder;
  Options options;
  options.runs = 20'000;
  const config::Config json =
      settings(folder, {"stream.format=json", R"(features.0.column='a "b"\c')", "privacy.rho=1"});
  const Finding finding = audit(json, config::Purpose::stream, options);
  EXPECT_EQ(finding.verdict(), Verdict::holds);
  EXPECT_GT(finding.mu_bound, 0.8 * finding.mu);
}

// A canary that is never read would make every claim hold.
TEST(Audit, RefusesACanaryThatDoesNotArrive) {
  const tests::TemporaryFolder folder;
  const config::Config cut = settings(folder, {"stream.record_bytes_max=2"});
  Options options;
  options.runs = 20'000;
  tests::expect_failure(
      Exit::configuration, [&] { static_cast<void>(audit(cut, config::Purpose::stream, options)); },
      "does not arrive");
}

TEST(Audit, ALaterRecordHasSpentWhatItsAgeSays) {
  const tests::TemporaryFolder folder;
  const config::Config config = settings(folder, {"privacy.rho=2"});
  Options options;
  options.at = 5;
  options.runs = 30'000;
  const Finding finding = audit(config, config::Purpose::stream, options);
  EXPECT_NEAR(finding.mu_of_filter, finding.mu, 1e-6 * finding.mu);
  EXPECT_LE(finding.mu_bound, finding.mu * 1.01);
  EXPECT_GE(finding.mu_bound, 0.93 * finding.mu);
}

TEST(Audit, DrawsTheStepOfTheRecord) {
  const tests::TemporaryFolder folder;
  const config::Config config = settings(folder, {"privacy.rho=2"});
  Options options;
  options.at_random = true;
  options.steps = 8;
  options.runs = 1000;
  std::set<std::uint64_t> drawn;
  for (int i = 0; i < 40; ++i) {
    const Finding finding = audit(config, config::Purpose::stream, options);
    drawn.insert(finding.at);
    EXPECT_NEAR(finding.mu_of_filter, finding.mu, 1e-6 * finding.mu) << finding.at;
  }
  EXPECT_LT(*drawn.rbegin(), options.steps);
  EXPECT_GE(drawn.size(), 4U) << "three or fewer of eight: once in 1e15";
}

// A ball so small that every iterate lies on its surface would hide the noise.
TEST(Audit, PlaysWithoutTheProjection) {
  const tests::TemporaryFolder folder;
  const config::Config config = settings(folder, {"privacy.rho=2", "descent.projection=ball", "descent.radius=1e-6"});
  Options options;
  options.runs = 30'000;
  const Finding finding = audit(config, config::Purpose::stream, options);
  EXPECT_TRUE(finding.unprojected);
  EXPECT_GE(finding.mu_bound, 0.93 * finding.mu);
  EXPECT_LE(finding.mu_bound, 1.01 * finding.mu);
}

// The mechanism draws a tenth less noise than its spend says.
TEST(Audit, CatchesNoiseThatIsTooSmall) {
  const tests::TemporaryFolder folder;
  const config::Config config = settings(folder, {"privacy.rho=2"});
  const config::Mechanism claimed = config::make_mechanism(config, privacy::Participation::once());
  config::Mechanism broken = claimed;
  const NoiseStddev small{claimed.main().stddev.value() * 0.9};
  broken.grids.front() = noise::Grid(small, noise::largest_stddev(claimed.main().correlation), config.descent.clip);
  Game game(config, broken, {8, {0}});
  const Statistic statistic(game.mu());
  const double mu = std::sqrt(2 * claimed.spend.after(StepCount{8}).value());
  Counts counts{40'000, 0, 0};
  for (std::uint64_t run = 0; run < counts.runs; ++run) {
    noise::KeyBytes key{};
    for (std::size_t i = 0; i < 8; ++i) key[i] = static_cast<std::uint8_t>(run >> (8 * i));
    key[31] = 1;
    if (statistic.of(game.play(World::without, key)) > mu / 2) ++counts.without;
    key[30] = 1;
    if (statistic.of(game.play(World::with, key)) > mu / 2) ++counts.with;
  }
  EXPECT_GT(mu_lower_bound(counts, {}), mu);
}

// So few games could prove nothing above the claim: a mechanism without any noise would pass as well.
TEST(Audit, ClaimsNothingThatItsGamesCannotExceed) {
  const tests::TemporaryFolder folder;
  Options options;
  options.runs = 2'000;
  const Finding finding = audit(settings(folder, {"privacy.rho=30"}), config::Purpose::stream, options);
  EXPECT_FALSE(finding.exceeded());
  EXPECT_GT(finding.mu_bound, finding.mu / 2);
  EXPECT_LT(finding.mu_provable, finding.mu);
  EXPECT_EQ(finding.verdict(), Verdict::not_shown);
}

// The claim about a late record of a tree is the cost of the worst record: with half the noise, this record would
// still stay below it.
TEST(Audit, ClaimsNothingOfARecordThatIsFarFromTheWorst) {
  const tests::TemporaryFolder folder;
  Options options;
  options.at = 7;
  options.runs = 6'000;
  const config::Config config = settings(folder, {"noise.correlation=tree", "noise.height=10", "privacy.rho=4"});
  EXPECT_EQ(audit(config, config::Purpose::stream, options).verdict(), Verdict::not_shown);
  options.at = 0;
  EXPECT_EQ(audit(config, config::Purpose::stream, options).verdict(), Verdict::holds);
}

TEST(Audit, OfATablesRunsHoldsAllOfThemAgainstTheBudget) {
  const tests::TemporaryFolder folder;
  const config::Config config = config::read_config(folder.write("audit.toml", tests::runs_config()),
                                                    {"privacy.rho=2"}, config::Purpose::table);
  Options options;
  options.runs = 6'000;
  const Finding finding = audit(config, config::Purpose::table, options);
  EXPECT_EQ(finding.descents, 10U);
  EXPECT_EQ(finding.rho_asked, 2);
  EXPECT_NEAR(finding.rho_limit, 2, 1e-9);
  EXPECT_LE(finding.rho, 0.2);
  EXPECT_EQ(finding.verdict(), Verdict::holds);
}

TEST(Audit, RefusesWhatItCannotPlay) {
  const tests::TemporaryFolder folder;
  const auto refused = [&](const std::vector<std::string>& overrides, const char* why) {
    tests::expect_failure(
        Exit::configuration,
        [&] { static_cast<void>(audit(settings(folder, overrides), config::Purpose::stream, {})); }, why);
  };
  refused({"privacy.adjacency=replace-one", "model.loss=multinomial", "model.classes=3",
           "features.0.clamp=[0.5, 2.0]", "features.0.center=0.0"},
          "no such record was found");
  refused({"features.0.clamp=[0.0, 1e-9]", "features.0.center=0.0", "model.intercept=false", "model.loss=logistic"},
          "no such record was found");
}

}  // namespace
}  // namespace nustream::audit
