// What an operator may do with the users of a folder: look at them, close some, and end them all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>

#include "users_world.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class UsersOfAFolder : public ::testing::Test {
 protected:
  // rho is so large that noise is nothing, and nobody reaches a limit by taking part.
  const UsersWorld world{2000, 40, "participations = 1000\n"};
  const std::vector<std::string> settings{"--insecure-seed", "7", "--quiet", "--set", "privacy.rho=1e9"};

  [[nodiscard]] CommandResult replay(const std::vector<std::string>& more) const {
    std::vector<std::string> all = settings;
    all.insert(all.end(), more.begin(), more.end());
    return world.run(all);
  }
  [[nodiscard]] CommandResult edit(const char* command, const std::string& identifiers = "") const {
    return run_command(NUSTREAM_COMMAND,
                       {"users", command, world.config(), "--insecure-seed", "7", "--set", "privacy.rho=1e9", "--set",
                        "state.directory=\"" + world.path("state") + "\""},
                       world.write("identifiers", identifiers));
  }
  /// Estimates over the whole table, in a new epoch of the same folder.
  [[nodiscard]] CommandResult estimate() const {
    const std::string table = world.write("table.toml", std::string(UsersWorld::columns) + R"([descent]
step_size = 0.05
clip_norm = 1.0
[privacy]
unit = "user"
user = "who"
user_null = ["", "0"]
rho = 0.5
delta = 1e-6
[estimate]
steps = 2
)");
    return run_command(NUSTREAM_COMMAND, {"estimate", table, "--insecure-seed", "7", "--quiet", "--new-epoch",
                                          "--set", "state.directory=\"" + world.path("state") + "\""});
  }
  [[nodiscard]] std::vector<std::uint64_t> counts() const {
    const CommandResult seen =
        run_command(NUSTREAM_COMMAND, {"inspect", world.path("state"), "--users", "--json", "--insecure-seed", "7"});
    EXPECT_EQ(seen.code, 0) << seen.err;
    simdjson::dom::parser parser;
    const auto users = parser.parse(seen.out)["users"];
    EXPECT_FALSE(users["private"].get_bool().value());
    return {users["entries"].get_uint64().value(), users["at_limit"].get_uint64().value()};
  }
  /// The slope of the last release.
  [[nodiscard]] double slope() const {
    std::istringstream lines(world.releases());
    std::string last;
    for (std::string line; std::getline(lines, line);) last = line;
    simdjson::dom::parser parser;
    return parser.parse(last)["estimate"]["x"].get_double().value();
  }
};

TEST_F(UsersOfAFolder, AreCountedForTheOperatorAlone) {
  ASSERT_EQ(replay({"--to", "1000"}).code, 0);
  EXPECT_EQ(counts(), (std::vector<std::uint64_t>{39, 0}));
  const CommandResult shown = run_command(NUSTREAM_COMMAND, {"inspect", world.path("state"), "--insecure-seed", "7"});
  EXPECT_THAT(shown.out, Not(HasSubstr("39 users")));
}

// All users are closed between two runs, one who was never seen among them. The second run moves nothing.
TEST_F(UsersOfAFolder, DoNotCountAgainWhereTheyAreClosed) {
  ASSERT_EQ(replay({"--to", "1000"}).code, 0);
  const double before = slope();
  std::string everybody = "nobody has seen me\r\n";
  for (int who = 1; who < 40; ++who) everybody += std::to_string(who) + "\n";
  const CommandResult closed = edit("close", everybody);
  ASSERT_EQ(closed.code, 0) << closed.err;
  EXPECT_THAT(closed.out, HasSubstr("40 identifiers are closed"));
  EXPECT_THAT(closed.err, HasSubstr("operator only, not private: 1 of them had contributed to no step"));
  EXPECT_EQ(counts(), (std::vector<std::uint64_t>{40, 40}));
  ASSERT_EQ(replay({"--resume"}).code, 0);
  EXPECT_NEAR(slope(), before, 1e-3);
  ASSERT_EQ(replay({"--new-epoch", "--from", "0"}).code, 0);
  EXPECT_NEAR(slope(), before, 1e-3);
  EXPECT_EQ(counts(), (std::vector<std::uint64_t>{40, 40}));
}

// What people write into such lists: the same identifier twice, empty lines, what stands for nobody, a byte order
// mark, quotes of CSV.
TEST_F(UsersOfAFolder, AreNamedOneALineAndEachCountsOnce) {
  ASSERT_EQ(replay({"--to", "1000"}).code, 0);
  const CommandResult one = edit("close",
                                 "\xEF\xBB\xBF"
                                 "3\r\n");
  EXPECT_THAT(one.out, HasSubstr("1 identifier is closed: it never counts again"));
  EXPECT_EQ(one.err, "");
  const CommandResult many = edit("close", "3\n4\n4\n\n0\n\"5\"\n 6\n");
  EXPECT_THAT(many.out,
              AllOf(HasSubstr("5 identifiers are closed"), HasSubstr("2 of them stood in quotes or between blanks"),
                    HasSubstr("1 of them named nobody by the present privacy.user_null")));
  EXPECT_THAT(many.err, HasSubstr("3 of them had contributed to no step"));
  EXPECT_EQ(counts(), (std::vector<std::uint64_t>{42, 5}));
}

// An estimate keeps no store of users: its state would forget who was closed, and its rows would count.
TEST_F(UsersOfAFolder, AreNotCountedByAnEstimateWhereAnyIsClosed) {
  ASSERT_EQ(replay({"--to", "1000"}).code, 0);
  ASSERT_EQ(edit("close", "3\n").code, 0);
  const std::string state = read_file(world.path("state/state"));
  const CommandResult refused = estimate();
  EXPECT_EQ(refused.code, 65) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("'nustream users close' closed users here, and this command keeps no store"));
  EXPECT_EQ(read_file(world.path("state/state")), state);
}

TEST_F(UsersOfAFolder, AreEstimatedWhereNobodyIsClosed) {
  ASSERT_EQ(replay({"--to", "1000"}).code, 0);
  const CommandResult estimated = estimate();
  EXPECT_EQ(estimated.code, 0) << estimated.err;
}

TEST_F(UsersOfAFolder, AreSaidToCountAgainWhereTheirStoreIsLost) {
  ASSERT_EQ(replay({"--to", "1000"}).code, 0);
  ASSERT_EQ(edit("close", "3\n").code, 0);
  const std::string words = "users that 'nustream users close' closed there count again";
  const CommandResult kept = replay({"--new-epoch", "--to", "1000"});
  EXPECT_EQ(kept.code, 0) << kept.err;
  EXPECT_THAT(kept.err, Not(HasSubstr(words)));
  std::filesystem::resize_file(world.path("state/users-0.log"), 0);
  const CommandResult lost = replay({"--new-epoch", "--to", "1000"});
  EXPECT_EQ(lost.code, 0) << lost.err;
  EXPECT_THAT(lost.err, HasSubstr(words));
}

TEST_F(UsersOfAFolder, AreSaidToCountAgainWhereTheyWereEnded) {
  ASSERT_EQ(replay({"--to", "1000"}).code, 0);
  ASSERT_EQ(edit("close", "3\n").code, 0);
  ASSERT_EQ(edit("end").code, 0);
  const CommandResult next = replay({"--new-epoch", "--from", "0", "--to", "1000"});
  EXPECT_EQ(next.code, 0) << next.err;
  EXPECT_THAT(next.err, HasSubstr("users that 'nustream users close' closed there count again"));
  const CommandResult later = replay({"--new-epoch", "--from", "0", "--to", "1000"});
  EXPECT_EQ(later.code, 0) << later.err;
  EXPECT_THAT(later.err, Not(HasSubstr("count again"))) << "the store is there";
  ASSERT_EQ(edit("end").code, 0);
  const CommandResult table = estimate();
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.err, HasSubstr("count again in this table; leave their records out of it"));
}

// Who reads a refusal has to know which folder it is about, and which command helps.
TEST_F(UsersOfAFolder, AreRefusedByFolderAndCommandWhereTheirStoreIsDamaged) {
  ASSERT_EQ(replay({"--to", "1000"}).code, 0);
  std::filesystem::resize_file(world.path("state/users-0.log"), 0);
  const CommandResult seen =
      run_command(NUSTREAM_COMMAND, {"inspect", world.path("state"), "--users", "--insecure-seed", "7"});
  for (const CommandResult& refused : {replay({"--resume"}), edit("close", "3\n"), seen}) {
    EXPECT_EQ(refused.code, 65) << refused.err;
    EXPECT_THAT(refused.err, AllOf(HasSubstr(world.path("state")), HasSubstr("nustream replay")));
  }
}

// Whoever closes users may have other settings by then. Those of the counts stay.
TEST_F(UsersOfAFolder, AreToldApartAsBeforeWhereTheyAreClosedUnderOtherSettings) {
  ASSERT_EQ(replay({"--to", "1000"}).code, 0);
  const CommandResult closed =
      run_command(NUSTREAM_COMMAND,
                  {"users", "close", world.config(), "--insecure-seed", "7", "--set", "privacy.rho=1e9", "--set",
                   "privacy.user=customer", "--set", "state.directory=\"" + world.path("state") + "\""},
                  world.write("identifiers", "3\n"));
  ASSERT_EQ(closed.code, 0) << closed.err;
  world.write("rows.csv", "x,customer,y" + UsersWorld::csv(2000, 40).substr(7));
  const CommandResult next = replay({"--new-epoch", "--from-start", "--set", "privacy.user=customer", "--json"});
  ASSERT_EQ(next.code, 0) << next.err;
  simdjson::dom::parser parser;
  const auto report = parser.parse(next.out);
  EXPECT_GT(report["ledger_rho"].get_double().value(), 1.2 * report["rho"].get_double().value());
}

// Under another key of records or another partitioner, the same person has another number. The entry that is there
// keeps its own, so that the store stays what the state vouches for, in memory and on disk.
TEST_F(UsersOfAFolder, AreClosedUnderAnotherPartitionerAndThenGoOn) {
  for (const char* const store : {"memory", "disk"}) {
    const std::string state = world.path(store);
    const std::vector<std::string> here{"--set", fmt::format("users.store=\"{}\"", store), "--set",
                                        "state.directory=\"" + state + "\""};
    ASSERT_EQ(replay(with(here, {"--to", "1000"})).code, 0);
    std::string everybody;
    for (int who = 1; who < 40; ++who) everybody += std::to_string(who) + "\n";
    const std::vector<std::string> by_key{"--set", "privacy.user=\"@key\""};
    for (const auto& other : {by_key, with(by_key, {"--set", "users.partitioner=\"crc32\""})}) {
      const CommandResult closed = run_command(
          NUSTREAM_COMMAND,
          with(with({"users", "close", world.config(), "--insecure-seed", "7", "--set", "privacy.rho=1e9"}, here),
               other),
          world.write("identifiers", everybody));
      EXPECT_EQ(closed.code, 0) << closed.err;
    }
    const std::size_t releases = slopes_of(read_file(state + "/releases.jsonl")).size();
    const CommandResult next = replay(with(here, {"--resume"}));
    ASSERT_EQ(next.code, 0) << next.err;
    const std::vector<double> slopes = slopes_of(read_file(state + "/releases.jsonl"));
    ASSERT_GT(slopes.size(), releases);
    EXPECT_NEAR(slopes.back(), slopes[releases - 1], 1e-3) << "the closed ones count again, with the store " << store;
  }
}

TEST_F(UsersOfAFolder, AndGoOnWhereNobodyIs) {
  ASSERT_EQ(replay({"--to", "400"}).code, 0);
  const double before = slope();
  for (const char* const lines : {"", "\n\r\n"}) {
    const CommandResult none = edit("close", lines);
    EXPECT_EQ(none.code, 65) << none.out;
    EXPECT_THAT(none.err, HasSubstr("no line names a user; nobody is closed"));
  }
  ASSERT_EQ(replay({"--resume"}).code, 0);
  EXPECT_GT(std::abs(slope() - before), 1e-2);
}

TEST_F(UsersOfAFolder, AreForgottenAtTheEndOfTheStreamAndCharged) {
  ASSERT_EQ(replay({"--to", "1000"}).code, 0);
  ASSERT_EQ(edit("end").code, 0);
  const CommandResult again = replay({"--resume"});
  EXPECT_EQ(again.code, 65) << again.err;
  EXPECT_THAT(again.err, HasSubstr("holds no users"));
  EXPECT_EQ(edit("end").code, 65);
  const CommandResult next = replay({"--new-epoch", "--json"});
  ASSERT_EQ(next.code, 0) << next.err;
  simdjson::dom::parser parser;
  const auto report = parser.parse(next.out);
  EXPECT_GT(report["ledger_rho"].get_double().value(), 1.2 * report["rho"].get_double().value());
}

// A process that dies behind the new state leaves the store, which the same command deletes when it is given again.
TEST_F(UsersOfAFolder, AreForgottenByACommandThatIsGivenAgain) {
  ASSERT_EQ(replay({"--to", "1000"}).code, 0);
  const std::filesystem::path store = world.path("state/users-0.log");
  const std::string written = read_file(store);
  ASSERT_NE(written, "");
  ASSERT_EQ(edit("end").code, 0);
  ASSERT_EQ(read_file(store), "");
  std::ofstream(store) << written;
  EXPECT_EQ(edit("close", "1\n").code, 65);
  const CommandResult again = edit("end");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(read_file(store), "");
  EXPECT_EQ(edit("end").code, 65);
}

TEST_F(UsersOfAFolder, AreRefusedWhereThereAreNone) {
  EXPECT_EQ(edit("close", "1\n").code, 65);
  const CommandResult by_record =
      run_command(NUSTREAM_COMMAND, {"users", "end", world.config(), "--set", "privacy.unit=record"});
  EXPECT_EQ(by_record.code, 78) << by_record.err;
}

// Over an older copy they are changed once a new epoch has charged what the copy lacks, as the message says.
TEST(UsersOfAnOlderCopy, AreClosedBehindANewEpoch) {
  const UsersWorld world{2000, 40, "participations = 1000\n"};
  const auto copied = std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks;
  const auto close = [&] {
    return run_command(NUSTREAM_COMMAND,
                       {"users", "close", world.config(), "--set", "state.directory=\"" + world.path("state") + "\""},
                       world.write("identifiers", "3\n"));
  };
  ASSERT_EQ(world.run({"--quiet", "--to", "500"}).code, 0);
  std::filesystem::copy(world.path("state"), world.path("copy"), copied);
  ASSERT_EQ(world.run({"--quiet", "--resume", "--to", "1000"}).code, 0);
  std::filesystem::remove_all(world.path("state"));
  std::filesystem::copy(world.path("copy"), world.path("state"), copied);
  const CommandResult refused = close();
  EXPECT_EQ(refused.code, 65);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("before its users are changed, restore the newest one, or begin a new noise "
                              "epoch"),
                    HasSubstr("(replay or estimate, with --new-epoch)")));
  const CommandResult anew = world.run({"--quiet", "--new-epoch", "--to", "1500"});
  ASSERT_EQ(anew.code, 0) << anew.err;
  const CommandResult closed = close();
  EXPECT_EQ(closed.code, 0) << closed.err;
}

}  // namespace
}  // namespace nustream::tests
