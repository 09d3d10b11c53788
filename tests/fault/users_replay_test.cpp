// `nustream replay` where the unit of privacy is the user: counts that outlive runs, a store that the state vouches
// for, and epochs that are charged together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <simdjson.h>

#include "users_world.h"

namespace nustream::tests {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<std::string> seeded{"--insecure-seed", "7", "--quiet"};

/// The releases of a run in one go.
std::string in_one_go(const UsersWorld& world) {
  const CommandResult whole = world.run(seeded, "whole");
  EXPECT_EQ(whole.code, 0) << whole.err;
  return world.releases("whole");
}

double ledger_total(const UsersWorld& world, const std::string& state = "state") {
  const CommandResult seen =
      run_command(NUSTREAM_COMMAND, {"inspect", world.path(state), "--json", "--insecure-seed", "7"});
  EXPECT_EQ(seen.code, 0) << seen.err;
  simdjson::dom::parser parser;
  return parser.parse(seen.out)["total_rho"].get_double().value();
}

TEST(UsersReplay, SaysWhoseTheSpendIsOnEveryLine) {
  const UsersWorld world;
  const CommandResult run = world.run({"--insecure-seed", "7"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out,
              HasSubstr("per user (all records of one who): at most 3 contributions, 2 steps apart, zero-out"));
  EXPECT_THAT(run.err, HasSubstr("contributions of users"));
  EXPECT_THAT(world.releases(), HasSubstr(R"("protects":"user","user":"who","participations":3,"separation":2)"));
  EXPECT_THAT(read_file(world.path("state/ledger")),
              HasSubstr(R"("protects":"user","participations":3,"separation":2)"));
}

// One user has three contributions, of at most twenty records each; the others are nobody's.
TEST(UsersReplay, SaysHowManyRecordsCountedForNothing) {
  const UsersWorld world(2000, 2);
  const CommandResult run =
      world.run({"--insecure-seed", "7", "--quiet", "--operator-json", world.path("operator.json")});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, ::testing::ContainsRegex("operator only, not private: 1,[0-9]+ of [0-9,]+ usable records "
                                                "\\(9[0-9.]+%\\) counted for nothing: the limits of their users"));
  EXPECT_THAT(read_file(world.path("operator.json")), ::testing::ContainsRegex("\"used_up\":1[0-9][0-9][0-9]"));
}

// Where several users share a step, the records that count cannot be told from the number of contributions.
TEST(UsersReplay, CountsEachRecordBeyondTheLimitsAlsoInAMinibatchOfManyUsers) {
  const UsersWorld world(10, 2, "participations = 1\n");
  std::string csv = "x,who,y\n";
  for (int i = 0; i < 1000; ++i) csv += "1,user " + std::to_string(i % 20) + ",1\n";
  world.write("rows.csv", csv);
  const std::string file = world.path("operator.json");
  const auto expect_used_up = [&](const std::vector<std::string>& more, const std::string& state) {
    const CommandResult run = world.run(with(with(seeded, {"--json", "--operator-json", file}), more), state);
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_THAT(run.err, HasSubstr("980 of 1,000 usable records (98%) counted for nothing: the limits of their users "
                                   "were used up"));
    EXPECT_THAT(read_file(file), HasSubstr("\"used_up\":980"));
  };
  expect_used_up({}, "by_descent");
  expect_used_up({"--set", "descent.minibatch=1"}, "one_by_one");
  const CommandResult dry = run_command(NUSTREAM_COMMAND, {"check", world.config(), "--data"});
  EXPECT_THAT(dry.out,
              HasSubstr("used up         980 of the usable records (98%) would count for nothing: a larger"));
}

// A run that is stopped and continued again and again lets nobody count again: its releases are those of a run in one
// go, to the byte.
TEST(UsersReplay, CountsOnWhereItWasStopped) {
  const UsersWorld world;
  const std::string whole = in_one_go(world);
  ASSERT_EQ(std::count(whole.begin(), whole.end(), '\n'), 100);
  const std::vector<std::string> parts{"400", "1000", "1140", "2000"};
  for (const std::string& to : parts) {
    std::vector<std::string> more{"--to", to};
    if (to != "400") more.emplace_back("--resume");
    const CommandResult part = world.run(with(seeded, more));
    ASSERT_EQ(part.code, 0) << part.err;
  }
  // The last release of each run has another tag.
  simdjson::dom::parser first;
  simdjson::dom::parser second;
  std::istringstream all(whole);
  std::istringstream parted(world.releases());
  std::string a;
  std::string b;
  std::size_t lines = 0;
  while (std::getline(all, a) && std::getline(parted, b)) {
    EXPECT_EQ(simdjson::to_string(first.parse(a)["estimate"]), simdjson::to_string(second.parse(b)["estimate"]));
    ++lines;
  }
  EXPECT_EQ(lines, 100U);
}

TEST(UsersReplay, RefusesAStoreThatIsLostCutOlderOrAnothers) {
  const UsersWorld world;
  ASSERT_EQ(world.run(with(seeded, {"--to", "400"})).code, 0);
  fs::copy(world.path("state"), world.path("older"), fs::copy_options::recursive);
  ASSERT_EQ(world.run(with(seeded, {"--to", "1000", "--resume"})).code, 0);
  ASSERT_EQ(world.run(with(seeded, {"--to", "400"}), "other").code, 0);
  const std::string log = "/users-0.log";
  const std::string good = read_file(world.path("state" + log));
  const auto refused = [&](const char* what) {
    const std::string before = world.releases();
    const CommandResult again = world.run(with(seeded, {"--resume"}));
    EXPECT_EQ(again.code, 65) << what << again.err;
    EXPECT_THAT(again.err, HasSubstr("users")) << what;
    EXPECT_THAT(again.err, HasSubstr("--new-epoch")) << what;
    EXPECT_EQ(world.releases(), before) << what;
  };
  fs::remove(world.path("state" + log));
  refused("lost: ");
  world.write("state" + log, good.substr(0, good.size() / 2));
  refused("cut: ");
  world.write("state" + log, read_file(world.path("older" + log)));
  refused("older: ");
  world.write("state" + log, read_file(world.path("other" + log)));
  refused("another's: ");
  std::string changed = good;
  changed[changed.size() / 2] ^= 1;
  world.write("state" + log, changed);
  refused("changed: ");
  // A record is taken out of the middle; what is left is genuine.
  world.write("state" + log, good);
  fs::permissions(world.path("state" + log), fs::perms::owner_read | fs::perms::owner_write);
  const CommandResult again = world.run(with(seeded, {"--resume"}));
  EXPECT_EQ(again.code, 0) << again.err;
}

// An older state stands beside the newest store, which has batches that the state does not know.
TEST(UsersReplay, RefusesAStateThatIsOlderThanItsStore) {
  const UsersWorld world;
  ASSERT_EQ(world.run(with(seeded, {"--to", "400"})).code, 0);
  fs::copy(world.path("state"), world.path("older"), fs::copy_options::recursive);
  ASSERT_EQ(world.run(with(seeded, {"--to", "1000", "--resume"})).code, 0);
  fs::copy(world.path("state/users-0.log"), world.path("older/users-0.log"), fs::copy_options::overwrite_existing);
  const CommandResult again = world.run(with(seeded, {"--resume"}), "older");
  EXPECT_EQ(again.code, 65) << again.err;
  EXPECT_THAT(again.err, HasSubstr("rolled back"));
}

// With whole counts and equal settings, two epochs cost what one does; where the counts are gone, they add up. The
// second epoch's records differ from the first one's, but epochs that are disjoint by record are not disjoint by
// user.
TEST(UsersReplay, ChargesEpochsByUser) {
  const UsersWorld world;
  ASSERT_EQ(world.run(with(seeded, {"--to", "1000"})).code, 0);
  const double one = ledger_total(world);
  ASSERT_EQ(world.run(with(seeded, {"--new-epoch"})).code, 0);
  const double carried = ledger_total(world);
  EXPECT_LE(carried, .5 * (1 + 1e-9));
  EXPECT_GT(carried, one * (1 - 1e-9));
  fs::remove(world.path("state/users-0.log"));
  world.write("rows.csv", UsersWorld::csv(3000, 40));
  const CommandResult lost = world.run(with(seeded, {"--new-epoch"}));
  ASSERT_EQ(lost.code, 0) << lost.err;
  EXPECT_GT(ledger_total(world), 1.5 * carried);
}

// Nobody who is at the limit in one epoch counts in the next.
TEST(UsersReplay, CarriesCountsOverIntoTheNextEpoch) {
  const UsersWorld world(2000, 40, "participations = 1\n");
  const std::vector<std::string> plain =
      with(seeded, {"--set", "privacy.rho=1e8", "--set", "descent.step_size=0.5", "--set", "model.loss=\"linear\""});
  ASSERT_EQ(world.run(with(plain, {"--to", "1000"})).code, 0);
  const CommandResult next = world.run(with(plain, {"--new-epoch", "--json"}));
  ASSERT_EQ(next.code, 0) << next.err;
  // The first 1,000 records hold all 40 users, so that what follows adds nothing but noise of 1e-6.
  simdjson::dom::parser parser;
  std::istringstream lines(world.releases());
  std::vector<std::vector<double>> slopes(2);
  for (std::string line; std::getline(lines, line);) {
    const auto release = parser.parse(line);
    slopes[release["epoch"].get_uint64().value()].push_back(release["estimate"]["x"].get_double().value());
  }
  ASSERT_EQ(slopes[1].size(), 50U);
  for (const double slope : slopes[1]) EXPECT_NEAR(slope, slopes[0].back(), 1e-3);
  EXPECT_GT(std::abs(slopes[0].back()), 1e-2);
}

TEST(UsersReplay, RefusesToAddUpRecordsAndUsers) {
  const UsersWorld world;
  const std::vector<std::string> by_record = with(seeded, {"--set", "privacy.unit=\"record\""});
  ASSERT_EQ(world.run(with(by_record, {"--to", "1000"})).code, 0);
  const CommandResult users = world.run(with(seeded, {"--new-epoch"}));
  EXPECT_EQ(users.code, 78) << users.err;
  EXPECT_THAT(users.err, HasSubstr("cannot be converted into one of users"));
  ASSERT_EQ(world.run(with(seeded, {"--to", "1000"}), "by_user").code, 0);
  const CommandResult records = world.run(with(by_record, {"--new-epoch"}), "by_user");
  EXPECT_EQ(records.code, 78) << records.err;
}

TEST(UsersReplay, IsStoppedByItsBudgetBeforeAStepThatWouldCrossIt) {
  const UsersWorld world;
  const CommandResult run = world.run(with(seeded, {"--set", "privacy.budget=0.3"}));
  EXPECT_EQ(run.code, 73) << run.err;
  EXPECT_LE(ledger_total(world), .3);
}

TEST(UsersReplay, TakesNoRecordWithoutAUser) {
  const UsersWorld world;
  world.write("rows.csv", "x,who,y\n1,,1\n1,0,1\n1,a,1\n1,\"a\",1\n" + std::string("1,b,1\n"));
  const CommandResult run = world.run(with(seeded, {"--json", "--set", "descent.minibatch=1"}));
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("2 of 5 records"));
  EXPECT_THAT(run.err, HasSubstr("column 'who'"));
}

// Whoever names users, and forgets the unit, has a promise about single records; each command says so.
TEST(UsersReplay, IsWarnedOfWhereTheUnitIsTheRecord) {
  const UsersWorld world;
  const std::vector<std::string> record{"--set", "privacy.unit=\"record\""};
  const char* const warning = "the promise is about single records";
  EXPECT_THAT(world.run(record).err, HasSubstr(warning));
  for (const char* command : {"check", "plan"}) {
    EXPECT_THAT(run_command(NUSTREAM_COMMAND, with({command, world.config()}, record)).out, HasSubstr(warning));
    EXPECT_THAT(run_command(NUSTREAM_COMMAND, {command, world.config()}).out, Not(HasSubstr(warning)));
  }
}

// The estimate is of the contributions that the limits let in; reports of a plan and of a run say so.
TEST(UsersReplay, HasReportsThatNameTheUnitAndWhatIsEstimated) {
  const UsersWorld world;
  const std::string plan = world.path("plan.html");
  const std::string run = world.path("run.html");
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"plan", world.config(), "--report", plan}).code, 0);
  ASSERT_EQ(world.run({"--quiet", "--report", run}).code, 0);
  const std::string planned = read_file(plan);
  for (const std::string& page : {planned, read_file(run)}) {
    EXPECT_THAT(page, HasSubstr("the limits of a user let in (at most 3 contributions, 2 steps apart)"));
    EXPECT_THAT(page, Not(HasSubstr("worst record")));
    EXPECT_THAT(page, Not(HasSubstr("one record can do")));
    EXPECT_THAT(page, Not(HasSubstr("What a record has spent")));
  }
  EXPECT_THAT(planned, HasSubstr("What a user has spent, over the steps"));
  EXPECT_THAT(planned, HasSubstr("<h2 id=\"limits-h\">Limits of a user</h2>"));
}

// A topic that is not keyed by the user loses the records of all partitions but one.
TEST(UsersReplay, IsPlannedForATopicThatIsKeyedByTheUser) {
  const UsersWorld world;
  const std::vector<std::string> attached{"plan",  world.config(),          "--set", "kafka.brokers=\"nowhere:9092\"",
                                          "--set", "kafka.topic=\"orders\""};
  EXPECT_THAT(run_command(NUSTREAM_COMMAND, attached).out, HasSubstr("(N - 1)/N"));
  EXPECT_THAT(run_command(NUSTREAM_COMMAND, with(attached, {"--set", "privacy.user=\"@key\""})).out,
              Not(HasSubstr("(N - 1)/N")));
}

}  // namespace
}  // namespace nustream::tests
