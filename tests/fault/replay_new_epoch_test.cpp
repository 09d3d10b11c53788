// New epochs behind good, lost and damaged states: where they begin, what is charged, and where they are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "replay_inspect.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(NewEpoch, GoesOnBehindTheCommittedPositionWithFreshNoiseAndDisjointSpend) {
  const ReplayWorld world(3000);
  ASSERT_EQ(world.run({"--to", "1000"}).code, 0);
  ASSERT_EQ(world.run({"--new-epoch", "--set", "privacy.rho=0.25"}).code, 0);
  simdjson::dom::parser parser;
  const auto shown = inspect(world, parser, "state");
  EXPECT_EQ(shown["epoch"].get_uint64().value(), 1u);
  EXPECT_EQ(shown["steps"].get_uint64().value(), 2000u);
  EXPECT_EQ(shown["ledger"].get_array().size(), 2u);
  EXPECT_NEAR(shown["total_rho"].get_double().value(), 0.5, 1e-9) << "disjoint records: the maximum";
}

TEST(NewEpoch, OverRecordsReadBeforeIsChargedAsTheSum) {
  const ReplayWorld world;
  ASSERT_EQ(world.run({}).code, 0);
  ASSERT_EQ(world.run({"--new-epoch", "--from", "0"}).code, 0);
  simdjson::dom::parser parser;
  EXPECT_NEAR(inspect(world, parser, "state")["total_rho"].get_double().value(), 1.0, 1e-9);
}

TEST(Budget, StopsBeforeItIsCrossedWith73) {
  const ReplayWorld world;
  ASSERT_EQ(world.run({}).code, 0);
  const CommandResult second = world.run({"--new-epoch", "--from", "0", "--set", "privacy.budget=0.9"});
  EXPECT_EQ(second.code, 73) << second.err;
  EXPECT_NE(second.err.find("another step would cross privacy.budget = 0.9"), std::string::npos) << second.err;
  simdjson::dom::parser parser;
  EXPECT_LE(inspect(world, parser, "state")["total_rho"].get_double().value(), 0.9);
}

TEST(Budget, ThatAResumeHasAlreadyPassedStopsItAtOnce) {
  const ReplayWorld world;
  ASSERT_EQ(world.run({"--to", "1000"}).code, 0);
  const std::string before = world.releases();
  EXPECT_EQ(world.run({"--resume", "--set", "privacy.budget=0.1"}).code, 73);
  EXPECT_TRUE(world.releases() == before);
}

/// What the shell would run behind the last "with: " or "charged for: " of a message, as arguments of the command.
std::vector<std::string> proposed(const std::string& said) {
  const std::size_t at = said.rfind("nustream replay ");
  std::string line = at == std::string::npos ? std::string() : said.substr(at + std::string("nustream ").size());
  line = line.substr(0, line.find('\n'));
  std::vector<std::string> words(1);
  bool is_quoted = false;
  for (const char c : line) {
    if (c == '\'') {
      is_quoted = !is_quoted;
    } else if (c == ' ' && !is_quoted) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

// A release of another model is no start. Each command that a message proposes is typed as it stands.
TEST(NewEpoch, UnderAnotherModelIsProposedAsItIsAccepted) {
  using Words = std::vector<std::string>;
  for (const Words& changes : {Words{"--set", "weight={column=\"y\",max=3}"}, Words{"--set", "features.0.name=z"}}) {
    const ReplayWorld world;
    ASSERT_EQ(world.run({}).code, 0);
    Words resumed = changes;
    resumed.emplace_back("--resume");
    const CommandResult refused = world.run(resumed);
    EXPECT_EQ(refused.code, 65) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("--new-epoch --from-start"));
    EXPECT_THAT(world.run(changes).err, HasSubstr("--new-epoch --from-start")) << "a first run is told the same";
    // All records were read, so that the run says how they are read again.
    const CommandResult at_the_end = run_command(NUSTREAM_COMMAND, proposed(refused.err));
    ASSERT_EQ(at_the_end.code, 0) << refused.err << at_the_end.err;
    EXPECT_THAT(at_the_end.err, HasSubstr("no step was taken"));
    const CommandResult again = run_command(NUSTREAM_COMMAND, proposed(at_the_end.err));
    EXPECT_EQ(again.code, 0) << at_the_end.err << again.err;
    simdjson::dom::parser parser;
    EXPECT_NEAR(inspect(world, parser, "state")["total_rho"].get_double().value(), 1.0, 1e-9);
  }
}

TEST(NewEpoch, OfTheSameModelIsProposedWithoutFromStart) {
  const ReplayWorld world;
  ASSERT_EQ(world.run({}).code, 0);
  const CommandResult refused = world.run({"--resume", "--set", "descent.clip_norm=2"});
  EXPECT_THAT(refused.err, AllOf(HasSubstr("--new-epoch"), ::testing::Not(HasSubstr("--from-start"))));
}

// There is no witness, which would still know what was spent.
TEST(NewEpoch, WithoutAStateIsRefusedWhereTheLedgerLacksWhatIsPublic) {
  const ReplayWorld world;
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--set", "state.witness=\"none\""});
    return world.run(arguments).code;
  };
  ASSERT_EQ(run({}), 0);
  std::filesystem::remove(world.path("state/state"));
  const std::string ledger = read_file(world.path("state/ledger"));
  std::filesystem::remove(world.path("state/ledger"));
  EXPECT_EQ(run({"--new-epoch", "--from", "0"}), 65);
  world.write("state/ledger", ledger);
  EXPECT_EQ(run({"--new-epoch", "--from", "0", "--lane", "1"}), 65) << "another lane's records";
  ASSERT_EQ(run({"--new-epoch", "--from", "0"}), 0);
  simdjson::dom::parser parser;
  EXPECT_NEAR(inspect(world, parser, "state")["total_rho"].get_double().value(), 1.0, 1e-9);
}

TEST(NewEpoch, GoesOnBehindADamagedOrRolledBackStateAtTheFurthestOfWhatIsKnown) {
  for (const bool damaged : {true, false}) {
    const ReplayWorld world(3000);
    ASSERT_EQ(world.run({"--to", "500"}).code, 0);
    std::string state = read_file(world.path("state/state"));
    ASSERT_EQ(world.run({"--to", "1500", "--resume"}).code, 0);
    if (damaged) {
      state = read_file(world.path("state/state"));
      state[state.size() / 2] = static_cast<char>(state[state.size() / 2] ^ 1);
    }
    world.write("state/state", state);
    ASSERT_EQ(world.run({"--resume"}).code, 65);
    const CommandResult result = world.run({"--new-epoch", "--to", "2000"});
    ASSERT_EQ(result.code, 0) << result.err;
    simdjson::dom::parser parser;
    const auto shown = inspect(world, parser, "state");
    EXPECT_EQ(shown["epoch"].get_uint64().value(), 1u);
    EXPECT_EQ(shown["steps"].get_uint64().value(), 500u) << "from 1500 on, not from the old state's 500";
    // The marks are lost with the state, and ordinals of another input would mean nothing.
    EXPECT_NEAR(shown["total_rho"].get_double().value(), 1.0, 1e-5) << "added up";
  }
}

// The state knows of a spend that a ledger cut at a line does not. To go on would forget the spend.
TEST(NewEpoch, IsRefusedWhereTheLedgerLostWhatTheStateKnows) {
  const ReplayWorld world;
  ASSERT_EQ(world.run({"--to", "500"}).code, 0);
  const std::string ledger = read_file(world.path("state/ledger"));
  ASSERT_EQ(world.run({"--to", "1000", "--resume"}).code, 0);
  ASSERT_EQ(world.run({"--to", "1500", "--resume"}).code, 0);
  world.write("state/ledger", ledger);
  EXPECT_EQ(world.run({"--new-epoch"}).code, 65);
}

// A power failure may keep a release and lose its ledger line. Where the state is lost as well, the release tells the
// spend.
TEST(NewEpoch, ChargesAReleaseWhoseLedgerLineWasLostByWhatItSays) {
  const ReplayWorld world(3000);
  ASSERT_EQ(world.run({"--to", "500"}).code, 0);
  ASSERT_EQ(world.run({"--new-epoch", "--to", "1000"}).code, 0);
  const std::string ledger = read_file(world.path("state/ledger"));
  ASSERT_EQ(world.run({"--resume", "--to", "1500"}).code, 0);
  world.write("state/ledger", ledger);
  std::filesystem::remove(world.path("state/state"));
  const CommandResult result = world.run({"--new-epoch"});
  ASSERT_EQ(result.code, 0) << result.err;
  simdjson::dom::parser parser;
  const auto shown = inspect(world, parser, "state");
  EXPECT_EQ(shown["epoch"].get_uint64().value(), 2u);
  EXPECT_EQ(shown["steps"].get_uint64().value(), 1500u);
  EXPECT_NEAR(shown["total_rho"].get_double().value(), 1.5, 1e-5) << "over unknown ranges: added up";
}

// A part of a release shows a step that neither the ledger nor a whole release has. Its epoch is charged all that it
// can have spent, and nobody knows where it ended, now or later.
TEST(NewEpoch, BehindATornReleaseIsChargedToTheLimit) {
  const ReplayWorld world(3000);
  const std::vector<std::string> slow{"--set", "noise.nu=1e-6"};
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.end(), slow.begin(), slow.end());
    return world.run(more);
  };
  ASSERT_EQ(run({"--to", "500"}).code, 0);
  simdjson::dom::parser parser;
  EXPECT_LT(inspect(world, parser, "state")["total_rho"].get_double().value(), 0.49);
  world.write("state/releases.jsonl", world.releases() + R"({"format":1,"stream":"s","lane":0,"epoch":0,"step":7)");
  std::filesystem::remove(world.path("state/state"));
  // A command that did not commit makes nothing be forgotten.
  EXPECT_EQ(run({"--new-epoch", "--passes", "2"}).code, 64);
  ASSERT_EQ(run({"--new-epoch", "--to", "501"}).code, 0);
  const double before = inspect(world, parser, "state")["total_rho"].get_double().value();
  EXPECT_GT(before, 0.5);
  ASSERT_EQ(run({"--new-epoch", "--to", "502"}).code, 0);
  EXPECT_GT(inspect(world, parser, "state")["total_rho"].get_double().value(), before + 1e-6);
}

TEST(NewEpoch, BehindATornReleaseOfAnEpochThatTheLedgerLacksIsRefused) {
  for (const std::string torn : {R"({"format":1,"stream":"s","lane":0,"epoch":1,"step":7)", R"({"format":1,"stream")",
                                 R"({"format":1,"stream":"s","lane":0,"epoch":0)"}) {
    const ReplayWorld world(3000);
    ASSERT_EQ(world.run({"--to", "500"}).code, 0);
    world.write("state/releases.jsonl", world.releases() + torn);
    std::filesystem::remove(world.path("state/state"));
    const std::string before = world.releases();
    const CommandResult result = world.run({"--new-epoch"});
    EXPECT_EQ(result.code, 65) << torn;
    EXPECT_THAT(result.err, HasSubstr("a part of a release"));
    EXPECT_TRUE(world.releases() == before);
  }
}

TEST(NewEpoch, InAnEmptyFolderIsTheFirst) {
  const ReplayWorld world;
  EXPECT_EQ(world.run({"--new-epoch"}).code, 0);
}

TEST(Resume, UnderOtherSettingsNamesThem) {
  const ReplayWorld world;
  ASSERT_EQ(world.run({}).code, 0);
  const CommandResult other = world.run({"--resume", "--set", "descent.clip_norm=77"});
  EXPECT_EQ(other.code, 65);
  EXPECT_THAT(
      other.err,
      AllOf(HasSubstr("the state is of other settings (another settings digest): descent.clip_norm ("),
            HasSubstr(", 77 here); resume with the settings that made it, or begin a new epoch with: nustream "
                      "replay " +
                      world.config() + " --set 'state.directory=\"" + world.path("state") +
                      "\"' --set descent.clip_norm=77 --new-epoch\n"),
            HasSubstr(world.path("state") + ": the state is of other settings")));
}

// Of several passes a new epoch has to be told where they begin.
TEST(NewEpoch, OfSeveralPassesIsAdvisedWithItsBeginning) {
  const ReplayWorld world;
  const std::vector<std::string> passes{"--passes", "2", "--to", "200"};
  ASSERT_EQ(world.run(passes).code, 0);
  const auto told = [&](std::vector<std::string> more) {
    more.insert(more.begin(), passes.begin(), passes.end());
    return world.run(more).err;
  };
  EXPECT_THAT(told({"--resume", "--set", "descent.clip_norm=77"}),
              HasSubstr(" --passes 2 --from 0 --to 200 --new-epoch (it reads the same records again: what both "
                        "epochs spend adds up)\n"));
  EXPECT_THAT(told({}), HasSubstr(" --passes 2 --from 0 --to 200 --new-epoch\n"));
}

// The message says what to move away. The witness knows what the old ledger told.
TEST(NewEpoch, BehindALedgerThatWasChangedBeginsAsTheMessageSays) {
  for (const bool is_longer : {true, false}) {
    SCOPED_TRACE(is_longer ? "with a line that nobody wrote" : "without its first line");
    const ReplayWorld world;
    ASSERT_EQ(world.run({}).code, 0);
    const std::string ledger = read_file(world.path("state/ledger"));
    world.write("state/ledger", is_longer ? ledger + "x\n" : ledger.substr(ledger.find('\n') + 1));
    const CommandResult refused = world.run({"--resume"});
    EXPECT_EQ(refused.code, 65);
    EXPECT_THAT(refused.err,
                HasSubstr("move the files state and ledger away and begin a new epoch with --new-epoch"));
    std::filesystem::rename(world.path("state/state"), world.path("lost-state"));
    std::filesystem::rename(world.path("state/ledger"), world.path("lost-ledger"));
    const CommandResult anew = world.run({"--new-epoch", "--from", "0"});
    ASSERT_EQ(anew.code, 0) << anew.err;
    simdjson::dom::parser parser;
    EXPECT_NEAR(inspect(world, parser, "state")["total_rho"].get_double().value(), 1.0, 1e-9);
  }
}

TEST(NewEpoch, OverALineThatIsNoReleaseSaysThatTheLineIsToBeTakenAway) {
  const ReplayWorld world;
  ASSERT_EQ(world.run({"--to", "1000"}).code, 0);
  const std::string releases = world.releases();
  world.write("state/releases.jsonl", releases + "x\n");
  const CommandResult resumed = world.run({"--resume"});
  EXPECT_EQ(resumed.code, 65);
  EXPECT_THAT(resumed.err, HasSubstr("take lines away that no run wrote, or begin a new epoch"));
  const CommandResult anew = world.run({"--new-epoch"});
  EXPECT_EQ(anew.code, 65);
  EXPECT_THAT(anew.err,
              HasSubstr("last line: is no release; restore the file as it was, or take this line away if no "
                        "run wrote it"));
  world.write("state/releases.jsonl", releases);
  EXPECT_EQ(world.run({"--resume"}).code, 0);
}

TEST(NewEpoch, OverAnInputThatBecameShorterIsNamedAndBegins) {
  const ReplayWorld world;
  ASSERT_EQ(world.run({}).code, 0);
  world.write("rows.csv", ReplayWorld::csv(500));
  for (const char* const option : {"--resume", "--new-epoch"}) {
    const CommandResult refused = world.run({option});
    EXPECT_EQ(refused.code, 65) << option;
    EXPECT_THAT(refused.err, HasSubstr("or have what is read again charged by --new-epoch --from 0")) << option;
  }
  ASSERT_EQ(world.run({"--new-epoch", "--from", "0"}).code, 0);
  simdjson::dom::parser parser;
  EXPECT_GT(inspect(world, parser, "state")["total_rho"].get_double().value(), 0.5);
}

}  // namespace
}  // namespace nustream::tests
