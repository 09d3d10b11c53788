// Settings whose unit is the user: what they come to, what is in the digest, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "config_reading.h"
#include "nustream/users/sensitivity.h"

namespace nustream::config {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> by_user(std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"privacy.unit=user", "privacy.user=who"});
  return more;
}

TEST(UsersConfig, ReadsWhoAUserIsAndWhatOneMayDo) {
  const Config config = read(
      by_user({"privacy.user_null=[\"\", \"0\"]", "users.participations=4", "users.separation=10", "users.mass=3"}));
  ASSERT_TRUE(config.users);
  EXPECT_EQ(config.users->column, "who");
  EXPECT_EQ(config.users->nobody, (std::vector<std::string>{"", "0"}));
  EXPECT_EQ(config.descent.users, users::Limits({{4, 10}}, Mass{3}));
  EXPECT_TRUE(config.privacy.neighbours().of_user);
  EXPECT_EQ(config.schema.user->column, "who");
}

// σ, and the spend as it grows, are those of what a user may do. Where there are two limits, the smaller of their
// bounds counts.
TEST(UsersConfig, CalibratesForWhatAUserMayDo) {
  for (const std::vector<std::string>& limits :
       {std::vector<std::string>{"users.participations=4", "users.separation=3"},
        {"users.mass=2.5"},
        {"users.participations=6", "users.mass=1.5"},
        {"users.participations=1", "users.mass=90.0"}}) {
    const Config config = read(by_user(limits));
    const Mechanism mechanism = make_mechanism(config, privacy::Participation::once());
    const auto& stage = mechanism.main();
    EXPECT_EQ(stage.sensitivity, users::sensitivity_limit(stage.correlation, *config.descent.users));
    EXPECT_NEAR(mechanism.spend.limit().value(), .5, 1e-12);
    for (const std::uint64_t steps : {1U, 2U, 5U, 40U, 5000U}) {
      const double moved = users::sensitivity(stage.correlation, StepCount{steps}, *config.descent.users).value();
      const double spent = mechanism.spend.after(StepCount{steps}).value();
      EXPECT_NEAR(spent, moved * moved / (2 * stage.sigma.value() * stage.sigma.value()), 1e-12 * spent) << steps;
    }
    EXPECT_THROW(static_cast<void>(mechanism.spend.of_age(StepCount{3})), Unsupported);
  }
}

// The partitioner is that of the Java client unless another one is named. It knows users by the key of a message
// alone.
TEST(UsersConfig, DividesUsersAsTheTopicsProducersDo) {
  const auto partitioner = [](const std::string& user, std::vector<std::string> more) {
    more.insert(more.end(), {"privacy.unit=user", "privacy.user=" + user, "users.participations=4"});
    return partitioner_of(read(more));
  };
  EXPECT_EQ(partitioner("@key", {}), users::Partitioner::murmur2);
  EXPECT_EQ(partitioner("@key", {"users.partitioner=crc32"}), users::Partitioner::crc32);
  EXPECT_EQ(partitioner("who", {}), users::Partitioner::user_hash);
  EXPECT_THAT(refusal(by_user({"users.participations=4", "users.partitioner=crc32"})),
              HasSubstr("users.partitioner"));
}

// A new number of lanes would move users to other lanes. A single lane needs no partitioner, and is that of a file.
TEST(UsersConfig, FixesItsLanesWhereThereAreSeveral) {
  Config config = read(by_user({"users.participations=4"}));
  const Mechanism mechanism = make_mechanism(config, privacy::Participation::once());
  const std::string alone = settings_digest(config, mechanism);
  config.users->lanes = 2;
  const std::string two = settings_digest(config, mechanism);
  config.users->lanes = 3;
  EXPECT_NE(two, alone);
  EXPECT_NE(two, settings_digest(config, mechanism));
  config.users->lanes = 1;
  EXPECT_EQ(alone, settings_digest(config, mechanism));
}

TEST(UsersConfig, IsInTheDigestWhole) {
  const auto digest = [](const std::vector<std::string>& more) {
    const Config config = read(more);
    return settings_digest(config, make_mechanism(config, privacy::Participation::once()));
  };
  const std::vector<std::string> base = by_user({"users.participations=4", "users.separation=3", "users.mass=2.0"});
  for (const char* change : {"privacy.unit=record", "privacy.user=whom", "privacy.user_null=[\"0\"]",
                             "users.participations=5", "users.separation=4", "users.mass=2.5"}) {
    std::vector<std::string> changed = base;
    changed.emplace_back(change);
    EXPECT_NE(digest(changed), digest(base)) << change;
  }
  EXPECT_NE(digest(by_user({"users.mass=1.0"})), digest(by_user({"users.participations=1"})));
  // Guesses are no part of the digest, because they change nothing.
  std::vector<std::string> guessed = base;
  guessed.emplace_back("plan.users=40");
  EXPECT_EQ(digest(guessed), digest(base));
}

// Without a declaration the clock is the time that Kafka sets; with one it is the time in the column.
TEST(UsersConfig, ReadsWithinWhichWindowsLimitsHold) {
  const Config appended = read(by_user({"users.participations=4", "users.period=PT36H"}));
  ASSERT_TRUE(appended.descent.users->windows());
  EXPECT_EQ(appended.descent.users->windows()->period, users::Period{std::chrono::hours(36)});
  EXPECT_FALSE(appended.descent.users->windows()->times_are_trusted);
  EXPECT_EQ(appended.input.time_column, timestamp_column);
  EXPECT_TRUE(appended.input.append_times_only);
  const std::vector<std::string> base =
      by_user({"users.participations=4", "users.period=P30D", "users.times=trusted", "stream.time=when"});
  const Config trusted = read(base);
  EXPECT_TRUE(trusted.descent.users->windows()->times_are_trusted);
  EXPECT_FALSE(trusted.input.append_times_only);
  const auto digest = [](const Config& config) {
    return settings_digest(config, make_mechanism(config, privacy::Participation::once()));
  };
  for (const char* change : {"users.period=P31D", "stream.time=then", "stream.time_unit=ms"}) {
    std::vector<std::string> changed = base;
    changed.emplace_back(change);
    EXPECT_NE(digest(read(changed)), digest(trusted)) << change;
  }
  EXPECT_NE(digest(read(by_user({"users.participations=4", "users.period=P30D"}))), digest(trusted));
  EXPECT_EQ(make_mechanism(trusted, privacy::Participation::once()).main().sigma,
            make_mechanism(read(by_user({"users.participations=4"})), privacy::Participation::once()).main().sigma);
}

TEST(UsersConfig, RefusesWhatItCannotKeep) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"privacy.unit=household", "privacy.user=who"}, "\"record\" or \"user\""},
      {{"privacy.unit=user", "users.participations=1"}, "privacy.user"},
      {by_user(), "users.participations"},
      {by_user({"users.participations=0"}), "from 1 to"},
      {by_user({"users.separation=2"}), "only together with participations"},
      {by_user({"users.participations=2", "users.separation=0"}), "> 0"},
      {by_user({"users.mass=0.0"}), "users.mass"},
      {by_user({"users.mass=-1.0"}), "users.mass"},
      {by_user({"users.mass=nan"}), "users.mass"},
      {by_user({"users.mass=1.0", "users.period=P1M"}), "P30D"},
      {by_user({"users.mass=1.0", "users.period=P30D", "stream.time=when"}), "trusted"},
      {by_user({"users.mass=1.0", "users.period=P30D", "users.times=trusted"}), "stream.time"},
      {by_user({"users.mass=1.0", "users.period=P30D", "users.times=append"}), "trusted"},
      {by_user({"users.mass=1.0", "users.times=trusted"}), "only together with period"},
      {by_user({"users.mass=1.0", "users.period=P30D", "privacy.account=shared"}), "privacy.account"},
      {{"users.period=P30D"}, "privacy.unit"},
      {{"users.times=trusted"}, "privacy.unit"},
      {by_user({"users.mass=1.0", "users.store=paper"}), "users.store"},
      {by_user({"users.mass=1.0", "users.times=3"}), "users.times"},
      {by_user({"users.mass=1.0", "privacy.protects=target"}), "protects"},
      {{"privacy.unit=user", "privacy.user=\"@timestamp\"", "users.mass=1.0"}, "a column"},
      {{"privacy.unit=user", "privacy.user=\"@who\"", "users.mass=1.0"}, "a column"},
      {{"privacy.unit=user", "privacy.user=\"@header:\"", "users.mass=1.0"}, "a column"},
      {by_user({"users.mass=1.0", "plan.users=0"}), "plan.users"},
  };
  for (const auto& [settings, said] : cases) EXPECT_THAT(refusal(settings), HasSubstr(said)) << settings.back();
}

// Users who contribute to several batches make the batches' means depend on each other.
TEST(UsersConfig, RefusesBatchMeansOfUsersWhoAreInSeveralBatches) {
  const auto with_batches = [](std::vector<std::string> limits) {
    limits.insert(limits.end(), {"intervals.kind=batch-means", "descent.average=tail"});
    return by_user(limits);
  };
  for (const std::vector<std::string>& limits : {std::vector<std::string>{"users.participations=2"},
                                                 {"users.mass=1.0"},
                                                 {"users.participations=1", "users.period=P1D"}}) {
    EXPECT_THAT(refusal(with_batches(limits)), HasSubstr("users.participations = 1")) << limits.front();
  }
  EXPECT_TRUE(read(with_batches({"users.participations=1"})).descent.batching.has_value());
}

TEST(UsersConfig, AndTheUnitOfRecordsStandSideBySide) {
  const Config config = read({"privacy.user=who", "users.participations=3"});
  EXPECT_FALSE(config.users);
  EXPECT_FALSE(config.schema.user);
  EXPECT_FALSE(config.privacy.neighbours().of_user);
}

}  // namespace
}  // namespace nustream::config
