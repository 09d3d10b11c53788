// The real command through stops and restarts: what is released, what is refused, and what is spent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <map>
#include <optional>
#include <sstream>

#include "nustream/privacy/epsilon.h"
#include "publish/release_json.h"
#include "replay_inspect.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Inspect, TakesTheConfigurationOfARun) {
  const ReplayWorld world;
  const std::string settings = world.write(
      "with-folder.toml", read_file(world.config()) + "[state]\ndirectory = \"" + world.path("state") + "\"\n");
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"replay", settings}).code, 0);
  const CommandResult by_settings = run_command(NUSTREAM_COMMAND, {"inspect", settings, "--json"});
  EXPECT_EQ(by_settings.code, 0) << by_settings.err;
  EXPECT_EQ(by_settings.out, run_command(NUSTREAM_COMMAND, {"inspect", world.path("state"), "--json"}).out);
}

TEST(Resume, InTwoHalvesGivesTheReleasesOfOneRun) {
  const ReplayWorld world(5000);
  ASSERT_EQ(world.run({"--insecure-seed", "7"}, "whole").code, 0);
  ASSERT_EQ(world.run({"--insecure-seed", "7", "--to", "2300"}, "halves").code, 0);
  const std::string first = world.releases("halves");
  ASSERT_EQ(world.run({"--insecure-seed", "7", "--resume"}, "halves").code, 0);
  const std::string both = world.releases("halves");
  EXPECT_TRUE(both.substr(0, first.size()) == first);
  EXPECT_TRUE(both == world.releases("whole"));
}

// There are few steps, each of which still costs something.
TEST(Resume, SpendsWhatOneRunWouldHaveSpent) {
  const ReplayWorld world(40);
  ASSERT_EQ(world.run({}, "whole").code, 0);
  ASSERT_EQ(world.run({"--to", "10"}, "halves").code, 0);
  ASSERT_EQ(world.run({"--to", "25", "--resume"}, "halves").code, 0);
  ASSERT_EQ(world.run({"--resume"}, "halves").code, 0);
  simdjson::dom::parser of_whole;
  simdjson::dom::parser of_halves;
  const auto whole = inspect(world, of_whole, "whole");
  const auto halves = inspect(world, of_halves, "halves");
  EXPECT_EQ(halves["total_rho"].get_double().value(), whole["total_rho"].get_double().value());
  EXPECT_EQ(halves["ledger"].get_array().size(), 1U);
  for (const char* name : {"steps", "to"}) {
    EXPECT_EQ(halves["ledger"].at(0)[name].get_uint64().value(), 40U) << name;
  }
}

TEST(Resume, OverNothingNewSaysSoAndShowsTheLastEstimate) {
  const ReplayWorld world;
  ASSERT_EQ(world.run({}).code, 0);
  const CommandResult again = world.run({"--resume"});
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.err, AllOf(HasSubstr("no new records behind record 2,000"), HasSubstr("--new-epoch --from 0")));
  EXPECT_THAT(again.out, HasSubstr("averaged after step 500"));
  const CommandResult epoch = world.run({"--new-epoch"});
  EXPECT_THAT(epoch.err, HasSubstr("no new records behind record 2,000"));
  EXPECT_THAT(epoch.out, Not(HasSubstr("averaged")));
}

// The output tells what this epoch cost, and what the folder did.
TEST(Resume, TellsTheEpsilonOfTheEpochAndOfTheLedgerApart) {
  const ReplayWorld world;
  ASSERT_EQ(world.run({}).code, 0);
  const CommandResult result = world.run({"--new-epoch", "--from", "0", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  simdjson::dom::parser parser;
  const simdjson::dom::element json = parser.parse(result.out);
  const auto value = [&](const char* name) { return json[name].get_double().value(); };
  EXPECT_EQ(value("epsilon"), privacy::epsilon(Rho{value("rho")}, Delta{1e-6}).value());
  EXPECT_EQ(value("ledger_epsilon"), privacy::epsilon(Rho{value("ledger_rho")}, Delta{1e-6}).value());
  EXPECT_GT(value("ledger_rho"), 1.9 * value("rho"));
  // Every release says the same about its own step.
  std::istringstream lines(world.releases());
  std::optional<publish::ShownRelease> last;
  for (std::string line; std::getline(lines, line);) {
    last = publish::read_release(line);
    ASSERT_TRUE(last);
    const bool is_first = last->epoch == EpochId{0};
    EXPECT_GE(last->rho_ledger, is_first ? last->rho : 1.4 * last->rho);
    EXPECT_LE(last->rho_ledger, is_first ? last->rho : 3 * last->rho);
  }
  EXPECT_EQ(last->rho_ledger, value("ledger_rho"));
  EXPECT_EQ(last->epsilon_ledger, value("ledger_epsilon"));
}

TEST(Resume, AnAverageThatHasNotBegunIsTold) {
  const ReplayWorld world(300);
  EXPECT_THAT(world.run({}).out, HasSubstr("the average begins behind step 500"));
  const auto plan = [&](const char* records) {
    return run_command(NUSTREAM_COMMAND, {"plan", world.config(), "--records", records}).out;
  };
  EXPECT_THAT(plan("300"), AllOf(HasSubstr("there will be no average"), HasSubstr("\n            300  ")));
  EXPECT_THAT(plan("600"), Not(HasSubstr("there will be no average")));
}

TEST(Resume, AStateWithoutResumeOrNewEpochIs65AndNamesBoth) {
  const ReplayWorld world;
  ASSERT_EQ(world.run({}).code, 0);
  const CommandResult again = world.run({});
  EXPECT_EQ(again.code, 65);
  EXPECT_THAT(again.err, AllOf(HasSubstr("--resume"), HasSubstr("--new-epoch")));
}

TEST(Resume, UnderAnotherSettingIs65AndPublishesNothing) {
  const ReplayWorld world;
  ASSERT_EQ(world.run({"--to", "1000"}).code, 0);
  const std::string before = world.releases();
  for (const char* setting : {"descent.step_size=0.02", "privacy.rho=0.4", "noise.nu=0.02", "features.0.center=1.0",
                              "descent.clip_norm=2.0", "stream.name=other", "stream.lane=3"}) {
    const CommandResult result = world.run({"--resume", "--set", setting});
    EXPECT_EQ(result.code, 65) << setting << ": " << result.err;
  }
  EXPECT_TRUE(world.releases() == before);
}

TEST(Resume, AnInsecureStateIsNeverResumedAsPrivateNorTheOtherWayRound) {
  const ReplayWorld world;
  ASSERT_EQ(world.run({"--to", "1000", "--insecure-seed", "1"}, "insecure").code, 0);
  EXPECT_THAT(world.releases("insecure"),
              AllOf(HasSubstr("\"private\":false"), ::testing::Not(HasSubstr("\"private\":true"))));
  const std::string key = world.path("a.key");
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"key", "new", key}).code, 0);
  for (const char* start : {"--resume", "--new-epoch"}) {
    for (const bool has_key : {false, true}) {
      std::vector<std::string> arguments{start};
      if (has_key) arguments.insert(arguments.end(), {"--set", "state.key_file=\"" + key + "\""});
      const CommandResult result = world.run(arguments, "insecure");
      EXPECT_EQ(result.code, 65) << result.err;
      EXPECT_THAT(result.err, HasSubstr("holds a state that is not private"));
    }
  }
  ASSERT_EQ(world.run({"--to", "1000"}, "private").code, 0);
  const CommandResult result = world.run({"--resume", "--insecure-seed", "1"}, "private");
  EXPECT_EQ(result.code, 65);
  EXPECT_THAT(result.err, HasSubstr("holds a private state"));
}

// The states are of one key file, and each is put in the place of another: by its stream, its lane or its epoch.
TEST(Resume, AStateOfAnotherStreamLaneOrEpochIs65) {
  const ReplayWorld world;
  const std::string key = world.path("a.key");
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"key", "new", key}).code, 0);
  const auto run = [&](std::vector<std::string> more, const std::string& state) {
    more.insert(more.end(), {"--set", "state.key_file=\"" + key + "\""});
    return world.run(more, state).code;
  };
  ASSERT_EQ(run({"--to", "500"}, "own"), 0);
  ASSERT_EQ(run({"--to", "500", "--set", "stream.name=other"}, "stream"), 0);
  ASSERT_EQ(run({"--to", "500", "--lane", "1"}, "lane"), 0);
  ASSERT_EQ(run({"--to", "400"}, "epoch"), 0);
  ASSERT_EQ(run({"--to", "500", "--new-epoch"}, "epoch"), 0);
  const std::string before = world.releases("own");
  for (const char* from : {"stream", "lane", "epoch"}) {
    std::filesystem::copy_file(world.path(std::string(from) + "/state"), world.path("own/state"),
                               std::filesystem::copy_options::overwrite_existing);
    EXPECT_EQ(run({"--resume"}, "own"), 65) << from;
    EXPECT_TRUE(world.releases("own") == before) << from;
  }
}

TEST(Resume, WithAnotherKeyIs77) {
  const ReplayWorld world;
  ASSERT_EQ(world.run({"--to", "1000"}).code, 0);
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"key", "new", world.path("other.key")}).code, 0);
  EXPECT_EQ(world.run({"--resume", "--set", "state.key_file=\"" + world.path("other.key") + "\""}).code, 77);
}

TEST(Resume, ARolledBackOrForeignStateIs65) {
  const ReplayWorld world;
  ASSERT_EQ(world.run({"--to", "500"}).code, 0);
  std::filesystem::copy_file(world.path("state/state"), world.path("old"));
  ASSERT_EQ(world.run({"--to", "1500", "--resume"}).code, 0);
  const std::string released = world.releases();
  std::filesystem::copy_file(world.path("old"), world.path("state/state"),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(world.run({"--resume"}).code, 65);
  std::string bytes = read_file(world.path("old"));
  bytes.resize(bytes.size() / 2);
  world.write("state/state", bytes);
  EXPECT_EQ(world.run({"--resume"}).code, 65);
  EXPECT_TRUE(world.releases() == released);
}

// With a minibatch, windows of different sizes may have passes of equally many steps, and so the same settings
// digest.
TEST(Passes, AreNotResumedOverAnInputThatGrewOrShrank) {
  const ReplayWorld world(1005);
  const std::vector<std::string> settings{"--passes", "2", "--set", "descent.minibatch=10"};
  ASSERT_EQ(world.run(settings).code, 0);
  for (const std::size_t rows : {1003u, 1009u}) {
    world.write("rows.csv", ReplayWorld::csv(rows));
    std::vector<std::string> resume = settings;
    resume.push_back("--resume");
    const CommandResult result = world.run(resume);
    EXPECT_EQ(result.code, 65) << result.err;
    EXPECT_THAT(result.err, HasSubstr("0 to 1005"));
  }
}

/// A folder of state that holds nothing yet.
void make_folder(const ReplayWorld& world) {
  std::filesystem::create_directories(world.path("state"));
  ::chmod(world.path("state").c_str(), 0700);
}

// Whether a record is bad depends on data. That it cannot be written to the list must not show in the releases.
TEST(Rejects, ThatCannotBeWrittenDoNotStopTheReleases) {
  const ReplayWorld world;
  ASSERT_EQ(world.run({"--insecure-seed", "3"}, "undisturbed").code, 0);
  make_folder(world);
  // It can be opened, but takes no write at a place.
  ASSERT_EQ(::mkfifo(world.path("state/rejects.jsonl").c_str(), 0600), 0);
  const CommandResult result = world.run({"--insecure-seed", "3", "--set", "state.rejects=true"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("could not be used"));
  EXPECT_THAT(result.err, HasSubstr("state/rejects.jsonl could not be written"));
  EXPECT_THAT(result.err, Not(HasSubstr("listed in")));
  EXPECT_EQ(world.releases(), world.releases("undisturbed"));
  const CommandResult resumed = world.run({"--insecure-seed", "3", "--set", "state.rejects=true", "--resume",
                                           "--operator-json", world.path("told.json")});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(read_file(world.path("told.json")), HasSubstr("\"rejects_written\":true"))
      << "nothing was to be listed";
}

TEST(Rejects, AreListedWhereTheOperatorIsTold) {
  const ReplayWorld world;
  const CommandResult result = world.run({"--set", "state.rejects=true"});
  EXPECT_THAT(result.err, HasSubstr("; listed in " + world.path("state/rejects.jsonl")));
  ASSERT_EQ(world.run({"--operator-json", world.path("told.json")}, "unasked").code, 0);
  EXPECT_THAT(read_file(world.path("told.json")), Not(HasSubstr("rejects_written")));
}

// Whether the file can be made does not depend on data.
TEST(Rejects, ThatCannotBeMadeAreToldBeforeAnythingIsSpent) {
  const ReplayWorld world;
  make_folder(world);
  std::filesystem::create_directory(world.path("state/rejects.jsonl"));
  const CommandResult result = world.run({"--set", "state.rejects=true"});
  EXPECT_EQ(result.code, 74);
  EXPECT_THAT(result.err, HasSubstr("rejects.jsonl"));
  for (const char* name : {"state/state", "state/ledger", "state/releases.jsonl"}) {
    EXPECT_FALSE(std::filesystem::exists(world.path(name))) << name;
  }
}

TEST(Rejects, BeginWhereAResumedRunAsksForThem) {
  const ReplayWorld world;
  ASSERT_EQ(world.run({"--to", "1000"}).code, 0);
  ASSERT_EQ(world.run({"--resume", "--set", "state.rejects=true"}).code, 0);
  const std::string rejects = read_file(world.path("state/rejects.jsonl"));
  EXPECT_EQ(std::count(rejects.begin(), rejects.end(), '\n'), 10) << "every 97th from 1066 on";
  EXPECT_THAT(rejects, testing::StartsWith("{\"position\":1066,\"reason\":"));
}

TEST(Horizon, OfAFiniteCorrelationIsAHardStopWith73) {
  const ReplayWorld world;
  const std::vector<std::string> finite{"--set", "noise.correlation=anti-pgd", "--set", "noise.horizon=700",
                                        "--set", "release.every=300",          "--set", "release.every_seconds=5"};
  const CommandResult result = world.run(finite);
  EXPECT_EQ(result.code, 73) << result.err;
  EXPECT_NE(result.err.find("all 700 steps of the horizon"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("are taken; --new-epoch begins another one"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("warning: release.every_seconds is for attach"), std::string::npos) << result.err;
  simdjson::dom::parser parser;
  EXPECT_EQ(inspect(world, parser, "state")["steps"].get_uint64().value(), 700u);
  std::vector<std::string> resume = finite;
  resume.push_back("--resume");
  EXPECT_EQ(world.run(resume).code, 73);
  const std::string releases = world.releases();  // all 700 steps are paid for, and the last ones released once
  EXPECT_EQ(std::count(releases.begin(), releases.end(), '\n'), 3) << "300, 600, 700";
  EXPECT_THAT(releases, testing::HasSubstr("\"step\":700,\"position\":700,\"tag\":\"end\""));
}

TEST(Passes, AreOneLedgerEntryAtTheParticipationsOwnSensitivity) {
  const ReplayWorld world(500);
  ASSERT_EQ(world.run({"--passes", "3"}).code, 0);
  simdjson::dom::parser parser;
  const auto shown = inspect(world, parser, "state");
  EXPECT_EQ(shown["steps"].get_uint64().value(), 1500u);
  EXPECT_EQ(shown["ledger"].get_array().size(), 1u);
  EXPECT_EQ(shown["ledger"].at(0)["to"].get_uint64().value(), 500u);
  EXPECT_LE(shown["total_rho"].get_double().value(), 0.5);
  EXPECT_EQ(world.run({"--passes", "2", "-"}, "pipe").code, 74) << "a pipe cannot be read twice";
}

// Every pass reads the window from its beginning. A new epoch or another window would read records again that the
// ledger takes for disjoint.
TEST(Passes, ReadNothingAgainThatTheLedgerWouldTakeForDisjoint) {
  const ReplayWorld world(500);
  ASSERT_EQ(world.run({"--passes", "2", "--from", "0", "--to", "200"}).code, 0);
  EXPECT_EQ(world.run({"--passes", "2", "--new-epoch"}).code, 64);
  EXPECT_EQ(world.run({"--passes", "2", "--resume", "--from", "100", "--to", "300"}).code, 65);
  EXPECT_EQ(world.run({"--passes", "2", "--resume", "--to", "300"}).code, 65) << "another b is another accounting";
  EXPECT_EQ(world.run({"--passes", "3", "--resume", "--to", "200"}).code, 65) << "another k is another accounting";
  ASSERT_EQ(world.run({"--passes", "2", "--new-epoch", "--from", "0", "--to", "200"}).code, 0);
  simdjson::dom::parser parser;
  const auto shown = inspect(world, parser, "state");
  const auto ledger = shown["ledger"].get_array();
  EXPECT_NEAR(shown["total_rho"].get_double().value(),
              ledger.at(0)["rho"].get_double().value() + ledger.at(1)["rho"].get_double().value(), 1e-9);
}

TEST(Passes, ResumeInTheMiddleOfOneGivesTheReleasesOfOneRun) {
  const ReplayWorld world(50000);
  const std::vector<std::string> settings{"--passes", "2",     "--insecure-seed",
                                          "3",        "--set", "state.commit_records=1000"};
  ASSERT_EQ(world.run(settings, "whole").code, 0);
  Command interrupted(NUSTREAM_COMMAND, world.replay(settings, "cut"));
  while (world.releases("cut").empty()) ::usleep(500);
  interrupted.signal(SIGINT);
  const int code = interrupted.wait().code;
  EXPECT_TRUE(code == 130 || code == 0) << code;
  std::vector<std::string> resume = settings;
  resume.push_back("--resume");
  ASSERT_EQ(world.run(resume, "cut").code, 0);
  EXPECT_TRUE(world.releases("cut") == world.releases("whole"));
}

// The streams have the same key file and the same settings. Over two files that do not differ, shared noise would
// give equal releases. Over two files with different records, what is left of their releases' difference, once the
// records' part is taken away, is the difference of two noises, and shared noise would cancel in it. Fresh keys for
// each stream make the releases differ from the first step on.
TEST(FreshNoise, TwoFilesUnderOneKeyFileShareNone) {
  const ReplayWorld world;
  const std::string key = world.path("shared.key");
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"key", "new", key}).code, 0);
  const std::string other = world.write("other.csv", ReplayWorld::csv(2000, 2));
  const std::vector<std::string> settings{"--set", "state.key_file=\"" + key + "\"", "--set", "release.every=1"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), settings.begin(), settings.end());
    return more;
  };
  ASSERT_EQ(world.run(settings, "a").code, 0);
  ASSERT_EQ(world.run(with({other}), "b").code, 0);
  simdjson::dom::parser parser;
  std::vector<double> a, b;
  for (const auto& [name, out] : {std::pair{"a", &a}, std::pair{"b", &b}}) {
    const simdjson::padded_string text(world.releases(name));
    simdjson::dom::document_stream lines;
    ASSERT_EQ(parser.parse_many(text).get(lines), simdjson::SUCCESS);
    for (const auto line : lines) out->push_back(line["estimate"]["x"].get_double().value());
  }
  ASSERT_EQ(a.size(), 2000u);
  ASSERT_EQ(b.size(), 2000u);
  // Increments are dominated by η z_t. Correlated noises would show in the correlation of the increments, whose
  // standard error is 1/√2000; 6 of those give a false-alarm rate of 2e-9.
  double ab = 0, aa = 0, bb = 0, apart = 0;
  for (std::size_t t = 1; t < a.size(); ++t) {
    ab += (a[t] - a[t - 1]) * (b[t] - b[t - 1]);
    aa += (a[t] - a[t - 1]) * (a[t] - a[t - 1]);
    bb += (b[t] - b[t - 1]) * (b[t] - b[t - 1]);
    const double difference = (a[t] - a[t - 1]) - (b[t] - b[t - 1]);
    apart += difference * difference;
  }
  // The variances of independent noises add up; a shared one would leave the gradients' part, which is 1% of that.
  EXPECT_NEAR(apart / (aa + bb), 1, 6 * std::sqrt(2 / 2000.0));
  EXPECT_LT(std::abs(ab) / std::sqrt(aa * bb), 6 / std::sqrt(2000.0));
}

TEST(Rotate, MovesAStateToANewKey) {
  const ReplayWorld world;
  ASSERT_EQ(world.run({"--to", "1000"}).code, 0);
  const std::string old_key = std::filesystem::canonical(world.path("state/key"));
  const std::string key = world.path("new.key");
  const auto resume_with = [&](const std::string& key_file, const std::string& to) {
    return world.run({"--resume", "--to", to, "--set", "state.key_file=\"" + key_file + "\""}).code;
  };
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"key", "new", key}).code, 0);
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"key", "rotate", world.path("state"), key}).code, 0);
  EXPECT_EQ(resume_with(old_key, "1500"), 77) << "the old key opens it no more";
  EXPECT_EQ(resume_with(key, "1500"), 0);
  EXPECT_EQ(world.run({"--resume"}).code, 0) << "the folder's own link follows the rotation";
}

}  // namespace
}  // namespace nustream::tests
