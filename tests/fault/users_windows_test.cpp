// `nustream replay` where users' limits hold within windows of time: a user of one window is a unit of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <simdjson.h>

#include "journal/disk.h"
#include "recording/segment_writer.h"
#include "stored_message.h"
#include "users_windows_world.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::vector<std::string> seeded_day{"--insecure-seed", "7", "--quiet"};

/// The estimate of every release, in order.
std::vector<std::string> estimates_in(const std::string& releases) {
  simdjson::dom::parser parser;
  std::istringstream lines(releases);
  std::vector<std::string> all;
  for (std::string line; std::getline(lines, line);) {
    all.push_back(simdjson::to_string(parser.parse(line)["estimate"]));
  }
  return all;
}

class UsersWithinADay : public ::testing::Test {
 protected:
  const UsersWindowsWorld world;

  [[nodiscard]] CommandResult run(const std::vector<std::string>& more, const std::string& state = "state") const {
    return world.run(with(with(seeded_day, UsersWindowsWorld::within_a_day()), more), state);
  }
  /// The estimates of the stream in which a user of two days is two users.
  [[nodiscard]] std::vector<std::string> twin() const {
    const CommandResult run = world.run(with(seeded_day, world.renamed()), "twin");
    EXPECT_EQ(run.code, 0) << run.err;
    return estimates_in(world.releases("twin"));
  }
  [[nodiscard]] double ledger_total() const {
    const CommandResult seen =
        run_command(NUSTREAM_COMMAND, {"inspect", world.path("state"), "--json", "--insecure-seed", "7"});
    EXPECT_EQ(seen.code, 0) << seen.err;
    simdjson::dom::parser parser;
    return parser.parse(seen.out)["total_rho"].get_double().value();
  }
};

TEST_F(UsersWithinADay, AreUsersOfTheirOwnEachDay) {
  ASSERT_GT(UsersWindowsWorld::days(), 10U);
  ASSERT_EQ(run({}).code, 0);
  const std::vector<std::string> whole = estimates_in(world.releases());
  ASSERT_EQ(whole.size(), 100U);
  EXPECT_EQ(whole, twin());
  ASSERT_EQ(world.run(seeded_day, "ever").code, 0);
  EXPECT_NE(whole, estimates_in(world.releases("ever")));
}

TEST_F(UsersWithinADay, GoOnInTheWindowInWhichTheRunWasStopped) {
  for (const char* to : {"60", "400", "500", "980", "1140", "2000"}) {
    std::vector<std::string> more{"--to", to};
    if (std::string(to) != "60") more.emplace_back("--resume");
    const CommandResult part = run(more);
    ASSERT_EQ(part.code, 0) << part.err;
  }
  EXPECT_EQ(estimates_in(world.releases()), twin());
}

TEST_F(UsersWithinADay, AreNamedWithTheirPeriodWhereverTheUnitIs) {
  const CommandResult done = world.run(with({"--insecure-seed", "7"}, UsersWindowsWorld::within_a_day()));
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out,
              HasSubstr("per user within P1D of trusted times (all records of one who): at most 3 contrib"));
  const auto named = HasSubstr(R"("separation":2,"period":"P1D","times":"trusted")");
  EXPECT_THAT(world.releases(), named);
  EXPECT_THAT(read_file(world.path("state/ledger")), named);
  const CommandResult seen = run_command(NUSTREAM_COMMAND, {"inspect", world.path("state"), "--insecure-seed", "7"});
  EXPECT_THAT(seen.out, HasSubstr("within P1D of trusted times"));
  std::vector<std::string> plan{"plan", world.config()};
  const CommandResult planned = run_command(NUSTREAM_COMMAND, with(plan, UsersWindowsWorld::within_a_day()));
  EXPECT_EQ(planned.code, 0) << planned.err;
  EXPECT_THAT(planned.out, AllOf(HasSubstr("within P1D"), HasSubstr("in 12 windows (the worst pattern costs that)")));
}

// All users but user 1 are closed, and the days go on: none of them counts again.
TEST_F(UsersWithinADay, StayClosedOnAllDaysThatFollow) {
  const std::vector<std::string> settings = with(UsersWindowsWorld::within_a_day(), {"--set", "privacy.rho=1e9"});
  ASSERT_EQ(world.run(with(with(seeded_day, settings), {"--to", "1000"})).code, 0);
  std::string everybody;
  for (int who = 1; who < 40; ++who) everybody += std::to_string(who) + "\n";
  std::vector<std::string> close{"users",
                                 "close",
                                 world.config(),
                                 "--insecure-seed",
                                 "7",
                                 "--set",
                                 "state.directory=\"" + world.path("state") + "\""};
  const CommandResult closed = run_command(NUSTREAM_COMMAND, with(close, settings), world.write("who", everybody));
  ASSERT_EQ(closed.code, 0) << closed.err;
  ASSERT_EQ(world.run(with(with(seeded_day, settings), {"--resume"})).code, 0);
  const std::vector<double> slopes = slopes_of(world.releases());
  ASSERT_EQ(slopes.size(), 100U);
  for (std::size_t step = 50; step < 100; ++step) EXPECT_NEAR(slopes[step], slopes[49], 1e-3) << step;
}

TEST_F(UsersWithinADay, AreRefusedWhereTheirTimesAreNobodysWord) {
  const auto refused = [&](const std::vector<std::string>& more, int code, const char* what) {
    const CommandResult result = world.run(with(seeded_day, more), "refused");
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(what));
  };
  refused({"--set", "users.period=\"P1D\""}, 78, "users.times = \"trusted\"");
  refused({"--set", "users.period=\"P1D\"", "--set", "stream.time=\"when\""}, 78, "users.times = \"trusted\"");
  refused(with(UsersWindowsWorld::within_a_day(), {"--passes", "2"}), 78, "a second pass");
}

// What replay refuses of the times, check refuses before any record is read.
TEST_F(UsersWithinADay, AreRefusedByCheckAsByReplay) {
  const auto refused = [&](const std::vector<std::string>& more, const char* what) {
    const CommandResult result = run_command(NUSTREAM_COMMAND, with({"check", world.config()}, more));
    EXPECT_EQ(result.code, 78) << result.err;
    EXPECT_THAT(result.err, HasSubstr(what));
  };
  refused({"--set", "users.period=\"P1D\""}, "a file of lines holds no append time");
  world.write("rows.csv", "x,when,who,y\n1,2024-01-01T00:00:00Z,a,1\n");
  refused(UsersWindowsWorld::within_a_day(), "is not the first in");
}

// One promise is about days and another about weeks: neither says anything about the other's unit.
TEST_F(UsersWithinADay, AddUpWithEpochsOfTheSamePeriodAlone) {
  ASSERT_EQ(run({"--to", "1000"}).code, 0);
  const double one = ledger_total();
  for (const std::vector<std::string>& other :
       {std::vector<std::string>{"--set", "users.period=\"P7D\""}, {"--set", "stream.time_unit=\"ms\""}}) {
    const CommandResult resumed = run(with({"--resume"}, other));
    EXPECT_EQ(resumed.code, 65) << resumed.err;
  }
  const CommandResult week = run({"--new-epoch", "--set", "users.period=\"P7D\""});
  EXPECT_EQ(week.code, 78) << week.err;
  EXPECT_THAT(week.err, HasSubstr("within P1D of trusted times"));
  const CommandResult ever = world.run(with(seeded_day, {"--new-epoch"}));
  EXPECT_EQ(ever.code, 78) << ever.err;
  ASSERT_EQ(run({"--new-epoch"}).code, 0);
  EXPECT_GT(ledger_total(), 1.5 * one);
}

/// The stream as a recording whose records have times of `kind`.
std::string recording_of(const UsersWindowsWorld& world, decode::TimeKind kind) {
  std::istringstream lines(read_file(world.path("rows.csv")));
  std::string line;
  std::getline(lines, line);
  const std::string name = world.path(kind == decode::TimeKind::broker ? "appended.segment" : "dated.segment");
  const auto disk = journal::posix_disk();
  auto writer = recording::SegmentWriter::create(*disk, name, {.topic = "orders", .cluster = "c"});
  std::uint64_t offset = 0;
  for (; std::getline(lines, line); ++offset) {
    const std::size_t comma = line.find(',');
    const std::string when = line.substr(0, comma);
    const std::vector<StoredMessage> one{{.offset = offset,
                                          .value = line.substr(comma + 1),
                                          .milliseconds = when == "unknown" ? 0 : std::stoll(when) * 1000,
                                          .time_kind = kind}};
    auto batch = views(one);
    writer.add(batch.messages().front());
  }
  writer.finish(offset);
  return name;
}

// A recording says which times the broker gave. Those of producers are taken where the operator vouches for them.
TEST_F(UsersWithinADay, GoByTheAppendTimesOfARecording) {
  const std::vector<std::string> values{"--set", "stream.columns=[\"x\", \"who\", \"y\"]", "--set",
                                        "users.period=\"P1D\""};
  const auto replayed = [&](decode::TimeKind kind, const std::vector<std::string>& more, const std::string& state) {
    return world.run(
        with(with(with(seeded_day, values), {"--set", "stream.input=\"" + recording_of(world, kind) + "\""}), more),
        state);
  };
  const CommandResult appended = replayed(decode::TimeKind::broker, {}, "appended");
  ASSERT_EQ(appended.code, 0) << appended.err;
  const std::vector<std::string> expected = twin();
  EXPECT_EQ(estimates_in(world.releases("appended")), expected);
  EXPECT_THAT(world.releases("appended"), HasSubstr(R"("period":"P1D","times":"append")"));
  const CommandResult dated = replayed(decode::TimeKind::producer, {}, "dated");
  EXPECT_EQ(dated.code, 65) << dated.err;
  EXPECT_THAT(dated.err, HasSubstr("LogAppendTime"));
  std::filesystem::remove(world.path("dated.segment"));  // a recording is never written over
  const CommandResult trusted =
      replayed(decode::TimeKind::producer,
               {"--set", "users.times=\"trusted\"", "--set", "stream.time=\"@timestamp\""}, "trusted");
  ASSERT_EQ(trusted.code, 0) << trusted.err;
  EXPECT_EQ(estimates_in(world.releases("trusted")), expected);
}

}  // namespace
}  // namespace nustream::tests
