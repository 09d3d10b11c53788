// Settings that are "private" where the unit is the user: what the measuring finds, and what it costs each user.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <simdjson.h>

#include "users_world.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> set(const std::vector<std::string>& settings) {
  std::vector<std::string> arguments;
  for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
  return arguments;
}

const std::vector<std::string> measured =
    set({R"(features.0.center="private")", R"(features.0.scale="private")", R"(target.center="private")",
         R"(target.scale="private")", R"(descent.clip_norm="private")", R"(descent.start="private")"});

/// Noise misses the bounds below under one random key of a hundred, so what has bounds has a seed.
const std::vector<std::string> seed{"--insecure-seed", "5"};

/// 20,000 rows of 4,000 users, one of whom has every third row.
class MeasuredUsers : public ::testing::Test {
 protected:
  [[nodiscard]] std::string ledger(const std::string& state = "state") const {
    return read_file(world.path(state + "/ledger"));
  }
  [[nodiscard]] double total(const std::vector<std::string>& options = {}) {
    const CommandResult shown =
        run_command(NUSTREAM_COMMAND, with({"inspect", world.path("state"), "--json"}, options));
    EXPECT_EQ(shown.code, 0) << shown.err;
    return parser.parse(shown.out)["total_rho"].get_double().value();
  }
  /// ρ of the last line of each of the first two epochs.
  [[nodiscard]] std::vector<double> rhos(const std::string& state = "state") {
    std::vector<double> found(2);
    std::istringstream lines(ledger(state));
    for (std::string line; std::getline(lines, line);) {
      const auto json = parser.parse(line);
      const std::uint64_t epoch = json["epoch"].get_uint64().value();
      if (epoch < 2) found[epoch] = json["rho"].get_double().value();
    }
    return found;
  }
  [[nodiscard]] double range(const CommandResult& result, const char* name) {
    return parser.parse(result.out)["ranges"][name].get_double().value();
  }
  /// The settings of the world as those of a table.
  [[nodiscard]] std::string table_settings() const {
    std::string config = read_file(world.config());
    config.replace(config.find("[users]"), std::string::npos, "[estimate]\nsteps = 20\n");
    return world.write("table.toml", config);
  }

  const UsersWorld world{20'000, 4000};
  simdjson::dom::parser parser;
};

TEST_F(MeasuredUsers, ReplayAndItsMeasuringAddUpToNoMoreThanTheRhoThatIsAskedFor) {
  const std::vector<std::string> seeded = with(measured, with(seed, {"--json"}));
  const CommandResult result = world.run(seeded);
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NEAR(range(result, "features.0.center"), 0, 0.3);
  EXPECT_NEAR(range(result, "features.0.scale"), 1, 0.6);
  EXPECT_NEAR(range(result, "target.center"), 1, 0.3);
  const std::vector<double> spent = rhos();
  EXPECT_NEAR(spent[0], 0.1, 1e-9);
  EXPECT_GT(spent[1], 0);
  EXPECT_NEAR(total(seed), spent[0] + spent[1], 1e-9) << "the sum, though the positions are the same";
  EXPECT_LE(total(seed), 0.5);
  EXPECT_THAT(ledger(), HasSubstr(R"("protects":"user","participations":1,"separation":1,"counts":false,)"));
  // The line itself says what a user with a record in the measuring was charged. Totals would tell it from its rho.
  const std::string first = ledger().substr(0, ledger().find('\n'));
  const auto by_count = parser.parse(first)["rho_by_count"];
  EXPECT_NEAR(by_count.at(1).get_double().value(), spent[0], 1e-9) << first;
  EXPECT_THAT(world.releases(), HasSubstr(R"("protects":"user")"));
  // The run's limits allow no more than its own ρ in all its epochs, and nothing is measured again.
  const CommandResult again = world.run(with(seeded, {"--new-epoch", "--from", "0"}));
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(range(again, "features.0.center"), range(result, "features.0.center"));
  EXPECT_LE(total(seed), 0.5);
}

TEST_F(MeasuredUsers, ALimitOfMassIsBesideThemToo) {
  const CommandResult result =
      world.run(with(measured, set({"users={mass = 2.0}", "privacy.adjacency=\"replace-one\""})));
  ASSERT_EQ(result.code, 0) << result.err;
  const std::vector<double> spent = rhos();
  EXPECT_NEAR(spent[0], 0.1, 1e-9);
  EXPECT_NEAR(total(), spent[0] + spent[1], 1e-9);
  EXPECT_LE(total(), 0.5);
  // In another measuring, in another folder, everything is spent again: nothing of a user's limits is known there.
  EXPECT_EQ(world.run(measured, "other").code, 0);
  EXPECT_NEAR(rhos("other")[0], 0.1, 1e-9);
}

TEST_F(MeasuredUsers, WindowsOfUsersHoldForTheMeasuringToo) {
  UsersWorld timed(20'000, 4000);
  std::istringstream table(UsersWorld::csv(20'000, 4000));
  std::string csv;
  int row = 0;
  for (std::string line; std::getline(table, line); ++row) {
    csv += (row == 0 ? "at," : fmt::format("2026-01-{:02}T00:00:00Z,", 1 + row * 28 / 20'001)) + line + "\n";
  }
  timed.write("rows.csv", csv);
  const CommandResult result = timed.run(
      with(measured, set({"stream.time=at", R"(users={participations = 3, period = "P7D", times = "trusted"})"})));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(read_file(timed.path("state/ledger")), HasSubstr(R"("period":"P7D")"));
  const CommandResult shown = run_command(NUSTREAM_COMMAND, {"inspect", timed.path("state"), "--json"});
  EXPECT_LE(parser.parse(shown.out)["total_rho"].get_double().value(), 0.5);
}

// Two epochs add up: the measuring costs P²ρ in P windows, and the run what its own correlation makes of them.
TEST_F(MeasuredUsers, APlanSaysWhatBothCostOverWindows) {
  const auto plan = [&](const std::vector<std::string>& further) {
    const std::vector<std::string> windows =
        set({R"(users={participations = 3, period = "P7D", times = "trusted"})", "stream.time=at"});
    const CommandResult shown = run_command(
        NUSTREAM_COMMAND, with(with({"plan", world.config(), "--json"}, with(measured, windows)), further));
    EXPECT_EQ(shown.code, 0) << shown.err;
    return parser.parse(shown.out);
  };
  for (const bool knows_nu : {true, false}) {
    const auto json = plan(knows_nu ? std::vector<std::string>{} : set({R"(noise.nu="private")"}));
    const double of_run = json["rho_run"].get_double().value();
    std::size_t shown = 0;
    const simdjson::dom::array windows = json["windows"].get_array().value();
    for (const simdjson::dom::element over : windows) {
      const double squared = std::pow(over["windows"].get_double().value(), 2);
      const double run = over["rho_run"].get_double().value();
      EXPECT_NEAR(over["rho_ranges"].get_double().value(), squared * json["rho_ranges"].get_double().value(), 1e-12);
      EXPECT_NEAR(over["rho"].get_double().value(), over["rho_ranges"].get_double().value() + run, 1e-12);
      EXPECT_GT(run, of_run);
      if (knows_nu) {
        EXPECT_LT(run, squared * of_run);
      } else {
        EXPECT_NEAR(run, squared * of_run, 1e-12);
      }
      ++shown;
    }
    EXPECT_EQ(shown, 3U);
  }
  EXPECT_TRUE(
      parser.parse(run_command(NUSTREAM_COMMAND, with({"plan", world.config(), "--json"}, measured)).out)["windows"]
          .error());
}

TEST_F(MeasuredUsers, EstimateSpendsWhatIsAskedForAndEveryFurtherRunAdds) {
  const std::string config = table_settings();
  const std::vector<std::string> arguments =
      with({"estimate", config, "--json", "--set", "state.directory=\"" + world.path("state") + "\""},
           with(measured, seed));
  const CommandResult result = run_command(NUSTREAM_COMMAND, arguments);
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NEAR(range(result, "target.center"), 1, 0.3);
  EXPECT_LE(total(seed), 0.5);
  EXPECT_GE(total(seed), 0.5 - 1e-9);
  EXPECT_EQ(run_command(NUSTREAM_COMMAND, with(arguments, {"--new-epoch"})).code, 0);
  EXPECT_NEAR(total(seed), 0.9, 1e-9) << "the run alone is new, and adds";
}

// A record that belongs to nobody is null in the measuring, whatever it holds.
TEST_F(MeasuredUsers, RecordsOfNobodySayNothing) {
  const std::vector<std::string> seeded = with(measured, {"--json", "--insecure-seed", "5"});
  const CommandResult one = world.run(seeded, "one");
  ASSERT_EQ(one.code, 0) << one.err;
  std::istringstream table(UsersWorld::csv(20'000, 4000));
  std::string changed;
  for (std::string line; std::getline(table, line);) {
    const bool is_nobodys = line.find(",0,") != std::string::npos;
    changed += (is_nobodys ? "-1e6,,7e5" : line) + "\n";
  }
  ASSERT_NE(changed, UsersWorld::csv(20'000, 4000));
  world.write("rows.csv", changed);
  const CommandResult other = world.run(seeded, "other");
  ASSERT_EQ(other.code, 0) << other.err;
  for (const char* name : {"features.0.center", "features.0.scale", "target.scale", "descent.clip_norm"}) {
    EXPECT_EQ(range(one, name), range(other, name)) << name;
  }
}

TEST_F(MeasuredUsers, AnotherColumnOfUsersIsAnotherRule) {
  ASSERT_EQ(world.run(with(measured, {"--quiet"})).code, 0);
  const CommandResult other = world.run(with(measured, {"--resume", "--set", "privacy.user_null=[\"\"]"}));
  EXPECT_EQ(other.code, 65);
  EXPECT_THAT(other.err, HasSubstr("measured under a different configuration"));
}

/// Asks check, plan and replay about settings.
struct Answers {
  CommandResult check;
  CommandResult plan;
  CommandResult replay;
};

TEST_F(MeasuredUsers, CheckAndPlanTakeWhatReplayTakesAndRefuseWhatItRefuses) {
  const auto asked = [&](const std::vector<std::string>& more, const std::string& state = "asked") {
    const std::vector<std::string> settings = with(measured, more);
    return Answers{run_command(NUSTREAM_COMMAND, with({"check", world.config()}, settings)),
                   run_command(NUSTREAM_COMMAND, with({"plan", world.config()}, settings)),
                   world.run(with(settings, {"--quiet"}), state)};
  };
  const auto refused = [&](const std::vector<std::string>& more, const std::string& text) {
    const Answers answers = asked(more);
    for (const CommandResult& each : {answers.check, answers.plan, answers.replay}) {
      EXPECT_EQ(each.code, 78) << text << each.out << each.err;
      EXPECT_THAT(each.err, HasSubstr(text));
    }
    EXPECT_FALSE(std::filesystem::exists(world.path("asked/ledger")));
  };
  refused(set({"model.loss=quantile"}), "cannot be measured for this loss");
  refused(set({"descent.momentum=0.5"}), "descent.momentum");
  refused(set({"stream.input=\"-\""}), "pipe");
  refused(set({"model.intercept=false"}), "model.intercept = false");
  refused(set({"model.loss=logistic"}), "units of its own");
  for (const char* unit : {"record", "user"}) {
    const Answers answers = asked(set({std::string("privacy.unit=") + unit}), unit);
    EXPECT_EQ(answers.check.code, 0) << answers.check.err;
    EXPECT_EQ(answers.plan.code, 0) << answers.plan.err;
    EXPECT_EQ(answers.replay.code, 0) << answers.replay.err;
  }
}

// check and plan take of a topic's settings what attach takes, and refuse what attach refuses before it asks a
// broker.
TEST_F(MeasuredUsers, CheckAndPlanOfATopicAreOnePreflightWithAttach) {
  const std::vector<std::string> brokers =
      set({"kafka.brokers=\"127.0.0.1:1\"", "kafka.topic=orders", "state.key_file=\"" + world.path("key") + "\""});
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"key", "new", world.path("key")}).code, 0);
  std::string text = read_file(world.config());
  text.erase(text.find("input = "), std::string("input = \"rows.csv\"\n").size());
  const std::string of_topic = world.write("topic.toml", text);
  const std::vector<std::string> columns = set({"stream.header=false", R"(stream.columns=["x","who","y"])"});
  const std::vector<std::string> settings = with(with(measured, brokers), columns);
  for (const char* command : {"check", "plan"}) {
    const CommandResult result = run_command(NUSTREAM_COMMAND, with({command, of_topic}, settings));
    EXPECT_EQ(result.code, 0) << command << result.err;
  }
  EXPECT_THAT(run_command(NUSTREAM_COMMAND, with({"plan", of_topic}, settings)).out,
              HasSubstr("each rho is per user"));
  const CommandResult away =
      run_command(NUSTREAM_COMMAND, with({"attach", of_topic, "--set", "kafka.give_up_seconds=1"}, settings));
  EXPECT_EQ(away.code, 69) << away.err;
  const std::vector<std::string> few = with(settings, set({"ranges.records=1000"}));
  for (const char* command : {"check", "plan", "attach"}) {
    const CommandResult result = run_command(NUSTREAM_COMMAND, with({command, of_topic}, few));
    EXPECT_EQ(result.code, 78) << command << result.out;
    EXPECT_THAT(result.err, HasSubstr("nothing is spent"));
  }
  const CommandResult beside = run_command(NUSTREAM_COMMAND, with({"check", world.config()}, few));
  EXPECT_EQ(beside.code, 0) << beside.err;
  EXPECT_THAT(beside.out, HasSubstr("attach would refuse this")) << "and replay takes it";
}

// Each user counts once in a histogram, so that 60 users with 20,000 records are too few at rho = .1: those who plan
// and check are told, and who runs is told why nothing was found.
TEST_F(MeasuredUsers, TooFewUsersAreSaidBeforeAndAfterTheyCost) {
  const UsersWorld few{20'000, 60};
  const CommandResult planned =
      run_command(NUSTREAM_COMMAND, with({"plan", few.config(), "--set", "plan.users=60"}, measured));
  EXPECT_THAT(planned.out, HasSubstr("60 users are few for that: each counts once in a histogram"));
  const CommandResult checked = run_command(NUSTREAM_COMMAND, with({"check", few.config(), "--data"}, measured));
  EXPECT_THAT(checked.out, AllOf(HasSubstr("users           59 different"), HasSubstr("59 users are few for that")));
  const CommandResult run = few.run(with(measured, seed));
  EXPECT_EQ(run.code, 65) << run.out;
  EXPECT_THAT(run.err, HasSubstr("there are too few users, since each counts once"));
  const CommandResult enough = run_command(NUSTREAM_COMMAND, with({"check", world.config(), "--data"}, measured));
  EXPECT_THAT(enough.out, Not(HasSubstr("are few for that")));
}

// The bundled orders of 4,338 customers, of whom the busiest has 7,847 lines.
TEST(MeasuredRetail, ScalesOfTheBundledStreamAreFoundByCustomer) {
  const TemporaryFolder folder;
  const std::string state = (folder.path() / "state").string();
  const CommandResult result = run_command(
      NUSTREAM_COMMAND,
      with({"replay", NUSTREAM_ROOT_DIR "/examples/retail/customers.toml", "--json", "--insecure-seed", "3", "--set",
            "state.directory=\"" + state + "\""},
           set({R"(target.center="private")", R"(target.scale="private")", R"(features.0.center="private")",
                R"(features.0.scale="private")", R"(moments.residual_bound="private")"})));
  ASSERT_EQ(result.code, 0) << result.err;
  simdjson::dom::parser parser;
  const auto json = parser.parse(result.out);
  EXPECT_NEAR(json["ranges"]["target.center"].get_double().value(), 1.5, 1);
  EXPECT_NEAR(json["ranges"]["target.scale"].get_double().value(), 1.2, 0.8);
  EXPECT_NEAR(json["ranges"]["features.0.center"].get_double().value(), 0.7, 0.7);
  EXPECT_NEAR(json["estimate"]["log(unit_price)"].get_double().value(), -0.53, 0.3);
}

}  // namespace
}  // namespace nustream::tests
