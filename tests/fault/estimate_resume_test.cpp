// `nustream estimate` by minibatches, stopped and resumed: how often each record took part, what the ledger says
// about it, and over which table it goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <thread>

#include "changed_streams.h"
#include "estimate_world.h"

namespace nustream::tests {
namespace {

using namespace std::chrono_literals;

using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

const std::vector<std::string> insecure{"--insecure-seed", "4"};

std::vector<std::string> with(std::vector<std::string> options, const std::vector<std::string>& more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

TEST(MinibatchEstimate, UnderOtherSettingsNamesThemAndTheCommand) {
  const EstimateWorld world;
  ASSERT_EQ(world.run({}).code, 0);
  const CommandResult other = world.run({"--resume", "--set", "descent.clip_norm=77"});
  EXPECT_EQ(other.code, 65);
  EXPECT_EQ(other.err,
            "nustream: error: " + world.path("state") +
                ": the state is of other settings (another settings digest): descent.clip_norm (2 there, 77 "
                "here); resume with the settings that made it, or begin a new epoch with: nustream estimate " +
                world.config() + " --set state.directory=" + world.path("state") +
                " --set descent.clip_norm=77 --new-epoch\n");
}

// A record takes part k = ⌈10/3⌉ = 4 times, 3 steps apart. With independent noise each pass costs ρ/4. A record's
// gradient moves the sum by 2G, so that σ = √k·2G/√(2ρ), over m on the mean.
TEST(MinibatchEstimate, SpendsByThePassesThatEveryRecordTakesPartIn) {
  const EstimateWorld world;
  for (const auto& [budget, steps, spent] : {std::tuple{"0.13", 3U, 0.125}, std::tuple{"0.3", 6U, 0.25}}) {
    const std::string state = std::string("budget") + budget;
    EXPECT_EQ(world.run({"--set", std::string("privacy.budget=") + budget}, state).code, 73);
    simdjson::dom::parser parser;
    const auto shown = world.inspect(parser, state);
    EXPECT_EQ(shown["steps"].get_uint64().value(), steps);
    EXPECT_NEAR(shown["total_rho"].get_double().value(), spent, 1e-9);
    EXPECT_LE(shown["total_rho"].get_double().value(), std::stod(budget));
  }
  ASSERT_EQ(world.run({}).code, 0);
  simdjson::dom::parser parser;
  const auto shown = world.inspect(parser);
  EXPECT_EQ(shown["steps"].get_uint64().value(), 10U);
  EXPECT_NEAR(shown["total_rho"].get_double().value(), 0.5, 1e-9);
  ASSERT_EQ(shown["ledger"].get_array().size(), 1U);
  const auto entry = shown["ledger"].at(0);
  EXPECT_EQ(entry["from"].get_uint64().value(), 0U);
  EXPECT_EQ(entry["to"].get_uint64().value(), 290U);

  const CommandResult plan = run_command(NUSTREAM_COMMAND, {"plan", world.config(), "--json", "--records", "290"});
  ASSERT_EQ(plan.code, 0) << plan.err;
  simdjson::dom::parser of_plan;
  EXPECT_NEAR(of_plan.parse(plan.out)["stages"].at(0)["stddev"].get_double().value(),
              std::sqrt(4.0) * 2 * 2.0 / std::sqrt(2 * 0.5) / 100, 1e-9);
}

const std::vector<std::string> two_runs{"--set", "intervals.kind=runs", "--set", "intervals.count=2"};

/// Runs without --quiet.
CommandResult loud(const EstimateWorld& world, const std::vector<std::string>& more) {
  std::vector<std::string> arguments = world.estimate(more);
  arguments.erase(std::find(arguments.begin(), arguments.end(), "--quiet"));
  return run_command(NUSTREAM_COMMAND, arguments);
}

TEST(MinibatchEstimate, IsToldFirstWhatItsBudgetEnds) {
  const EstimateWorld world;
  const auto plan = [&](std::vector<std::string> settings) {
    return run_command(NUSTREAM_COMMAND, with({"plan", world.config(), "--records", "290"}, settings)).out;
  };
  const std::vector<std::string> short_of_one{"--set", "privacy.budget=0.13"};
  const std::vector<std::string> short_of_all = with(two_runs, {"--set", "privacy.budget=0.4"});
  EXPECT_THAT(plan(short_of_one), HasSubstr("privacy.budget ends this epoch after 3 steps"));
  EXPECT_THAT(plan(short_of_all), HasSubstr("privacy.budget = 0.4 is less than the rho 0.5 that"));
  EXPECT_THAT(plan({"--set", "privacy.budget=0.5"}), Not(HasSubstr("privacy.budget")));
  const CommandResult run = loud(world, short_of_all);
  EXPECT_EQ(run.code, 73);
  EXPECT_THAT(run.err, HasSubstr("warning: privacy.budget = 0.4 is less than the rho 0.5 that the ledger comes to"));
  EXPECT_THAT(run.out, HasSubstr("run 1 of 2, "));
  EXPECT_THAT(run.out, HasSubstr("run 2 of 2, "));
  EXPECT_THAT(run.out, HasSubstr("\nsteps           6 of 10, 100 records each; 1 of 2 runs finished\n"));
  EXPECT_THAT(run.out, Not(HasSubstr("privacy noise"))) << "which is the last step's";
  EXPECT_THAT(run.out, HasSubstr("\nrho spent       0.375 "));
  EXPECT_THAT(run.out, Not(HasSubstr("they cover"))) << "of one run there is no interval";
  const std::vector<std::string> whole = with(two_runs, {"--resume"});
  const CommandResult rest = loud(world, whole);
  EXPECT_EQ(rest.code, 0) << rest.err;
  EXPECT_THAT(rest.out, Not(HasSubstr("run 1 of 2, ")));
  EXPECT_THAT(rest.out, HasSubstr("run 2 of 2, "));
  EXPECT_THAT(rest.out, HasSubstr("\npath            the path still converges")) << "both runs are looked at";
  EXPECT_THAT(rest.out, HasSubstr("\nrho spent       0.5 "));
  EXPECT_THAT(loud(world, whole).out, Not(HasSubstr("run 2 of 2, "))) << "nothing is left to run";
  // What earlier runs have spent counts.
  EXPECT_THAT(loud(world, with(two_runs, {"--new-epoch", "--set", "privacy.budget=0.9"})).err,
              HasSubstr("= 0.9 is less than the rho 1 that"));
}

TEST(MinibatchEstimate, ThatIsStoppedSaysSoInJson) {
  const EstimateWorld world;
  const auto ending_of = [&](const std::string& state, const std::vector<std::string>& more, int code) {
    const CommandResult result = world.run(with({"--json"}, more), state);
    EXPECT_EQ(result.code, code) << result.err;
    simdjson::dom::parser parser;
    const auto shown = parser.parse(result.out);
    return std::pair{std::string(shown["ending"]), double{shown["rho"]}};
  };
  EXPECT_THAT(ending_of("stopped", {"--set", "privacy.budget=0.13"}, 73),
              Pair("budget reached", DoubleNear(0.125, 1e-9)));
  EXPECT_THAT(ending_of("stopped", {"--resume"}, 0), Pair("finished", DoubleNear(0.5, 1e-9)));
  // Without a step there is nothing to show, also where an earlier epoch has something.
  for (const CommandResult& none : {world.run({"--json", "--set", "privacy.budget=1e-9"}, "none"),
                                    world.run({"--json", "--new-epoch", "--set", "privacy.budget=0.5"}, "stopped")}) {
    EXPECT_EQ(none.code, 73);
    EXPECT_EQ(none.out, "");
    EXPECT_THAT(none.err, HasSubstr("; no step was taken\n"));
  }
  const std::vector<std::string> runs = with(two_runs, {"--json"});
  EXPECT_THAT(ending_of("runs", with(runs, {"--set", "privacy.budget=0.25"}), 73),
              Pair("budget reached", DoubleNear(0.25, 1e-9)))
      << "the first of two";
  EXPECT_EQ(ending_of("runs", with(runs, {"--resume"}), 0).first, "finished");
  EXPECT_EQ(world.run(with(runs, {"--new-epoch", "--set", "privacy.budget=0.5"}), "runs").out, "");
}

// --resume is refused over another table; so is --new-epoch where an interval would mix the two tables.
TEST(EstimateByRuns, IsOverOneTable) {
  const EstimateWorld world;
  const std::string csv = read_file(world.path("rows.csv"));
  const std::vector<std::string> next = with(two_runs, {"--new-epoch"});
  ASSERT_EQ(world.run(with(two_runs, {"--set", "privacy.budget=0.25"})).code, 73);
  const std::string released = world.releases();
  world.write("rows.csv", EstimateWorld::csv(290, 2));
  const auto expect_refused = [&] {
    const CommandResult other = world.run(next);
    EXPECT_EQ(other.code, 65);
    EXPECT_THAT(other.err, HasSubstr("holds 1 of 2 runs that belong together, and its last epoch is not known"));
  };
  expect_refused();
  EXPECT_TRUE(world.releases() == released) << "nothing was spent";
  // An epoch under other settings in between does not help: the table is that of the last epoch.
  EXPECT_EQ(world.run({"--new-epoch"}).code, 0);
  expect_refused();
  world.write("rows.csv", csv);
  expect_refused();
}

// The noise is the same, so that only the settings of the intervals tell the epochs apart.
TEST(EstimateByRuns, AreThoseThatWereAskedForAsSuch) {
  const EstimateWorld world;
  const std::vector<std::string> one{"--set", "privacy.rho=0.25"};
  ASSERT_EQ(world.run(one).code, 0);
  const CommandResult resumed = world.run(with(two_runs, {"--resume"}));
  EXPECT_EQ(resumed.code, 65) << "an epoch of another kind is none of them";
  ASSERT_EQ(world.run(with(two_runs, {"--new-epoch"})).code, 0);
  const CommandResult three = loud(world, {"--new-epoch", "--set", "intervals.kind=runs", "--set",
                                           "intervals.count=3", "--set", "privacy.rho=0.75"});
  ASSERT_EQ(three.code, 0) << three.err;
  EXPECT_THAT(three.out, HasSubstr("run 1 of 3, "));
}

TEST(EstimateByCheckpoints, SaysWhereTheyWereNotReleased) {
  const EstimateWorld world;
  const std::vector<std::string> thin{"--set", "release.every=5", "--set", "privacy.budget=0.13"};
  ASSERT_EQ(world.run(thin).code, 73);
  const CommandResult whole =
      world.run({"--resume", "--json", "--set", "intervals.kind=checkpoints", "--set", "intervals.count=5"});
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_THAT(whole.err, HasSubstr("no intervals: not all of the 5 checkpoints are released"));
}

TEST(EstimateByRuns, GoesOnOverItsTableAndThenOverAnother) {
  const EstimateWorld world;
  const std::vector<std::string> next = with(two_runs, {"--new-epoch", "--json"});
  ASSERT_EQ(world.run(with(two_runs, {"--set", "privacy.budget=0.25"})).code, 73);
  simdjson::dom::parser parser;
  const CommandResult second = world.run(next);
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_NEAR(double{parser.parse(second.out)["rho"]}, 0.5, 1e-9) << "of both";
  world.write("rows.csv", EstimateWorld::csv(290, 2));
  const CommandResult other = world.run(next);
  ASSERT_EQ(other.code, 0) << other.err;
  EXPECT_EQ(parser.parse(other.out)["finished_runs"].get_uint64().value(), 2U);
}

// What a table looks like by its records may keep a stream from beginning, and never a later epoch of it.
TEST(NewEpochOfATable, IsNotRefusedForWhatItsRecordsLookLike) {
  const EstimateWorld world;
  const std::vector<std::string> settings{"--set", "stream.header=false", "--set", R"(stream.columns=["x","y"])"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), settings.begin(), settings.end());
    return more;
  };
  const std::string rows = read_file(world.path("rows.csv"));
  const std::string records = rows.substr(rows.find('\n') + 1);
  std::string odd = "%PDF-1.7\n";
  for (int i = 0; i < 60; ++i) odd += "3\n";
  world.write("rows.csv", odd + records);
  const CommandResult fresh = world.run(with({}), "other");
  EXPECT_EQ(fresh.code, 65);
  EXPECT_THAT(fresh.err, HasSubstr("is a PDF document"));
  world.write("rows.csv", records);
  ASSERT_EQ(world.run(with({})).code, 0);
  world.write("rows.csv", odd + records);
  const CommandResult next = world.run(with({"--new-epoch"}));
  EXPECT_EQ(next.code, 0) << next.err;
}

TEST(StoppedEstimate, ReleasesWhatItHasComeTo) {
  const EstimateWorld world;
  Command command(NUSTREAM_COMMAND,
                  world.estimate({"--json", "--set", "estimate.steps=100000000", "--set", "release.every=100000000",
                                  "--set", "noise.correlation=independent", "--set", "state.commit_seconds=0.01"}));
  for (int i = 0; i < 15'000 && !world.has_state("state"); ++i) std::this_thread::sleep_for(20ms);
  command.signal(SIGTERM);
  const CommandResult result = command.wait();
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("\"ending\":\"interrupted\""));
  EXPECT_THAT(world.releases(), HasSubstr("\"tag\":\"shutdown\""));
}

// The folder is a stream's, whose state may have the same name.
TEST(ResumedEstimate, OfAnotherKindOfRunIsNoMatterOfItsSize) {
  const EstimateWorld world;
  const CommandResult stream =
      run_command(NUSTREAM_COMMAND, {"replay", world.config(), "--quiet", "--set", "noise.nu=0.01", "--set",
                                     "state.directory=" + world.path("state")});
  ASSERT_EQ(stream.code, 0) << stream.err;
  const CommandResult result = world.run({"--resume"});
  EXPECT_EQ(result.code, 65);
  EXPECT_THAT(result.err, Not(HasSubstr("is not the table")));
}

// The budget stops the run everywhere, in the middle of passes and at their ends.
TEST(MinibatchEstimate, InPiecesGivesTheReleasesOfOneRun) {
  const EstimateWorld world;
  ASSERT_EQ(world.run(insecure, "whole").code, 0);
  EXPECT_EQ(world.run(with(insecure, {"--set", "privacy.budget=0.13"}), "pieces").code, 73);
  EXPECT_EQ(world.run(with(insecure, {"--resume", "--set", "privacy.budget=0.3"}), "pieces").code, 73);
  ASSERT_EQ(world.run(with(insecure, {"--resume"}), "pieces").code, 0);
  EXPECT_TRUE(world.releases("pieces") == world.releases("whole"));
  simdjson::dom::parser one, other;
  EXPECT_EQ(world.inspect(one, "pieces", insecure)["total_rho"].get_double().value(),
            world.inspect(other, "whole", insecure)["total_rho"].get_double().value());
}

// Over another table, a record could take part again sooner than after b steps, or once more, under the same
// accounting.
TEST(ResumedEstimate, IsRefusedOverAnotherTable) {
  for (const std::vector<std::string>& settings :
       {std::vector<std::string>{}, std::vector<std::string>{"--set", "descent.minibatch=290"},
        std::vector<std::string>{"--set", "descent.minibatch=20"}}) {
    const EstimateWorld world;
    const std::string csv = read_file(world.path("rows.csv"));
    EXPECT_EQ(world.run(with(settings, {"--set", "privacy.budget=0.26"})).code, 73);
    const std::string released = world.releases();
    const std::string state = read_file(world.path("state/state"));
    std::vector<std::string> lines = lines_of(csv);
    std::vector<std::pair<const char*, std::string>> tables;
    std::sort(lines.begin(), lines.end());
    tables.emplace_back("sorted", joined(lines));
    tables.emplace_back("another", EstimateWorld::csv(290, 2));
    tables.emplace_back("truncated", csv.substr(0, csv.rfind('\n', csv.size() - 2) + 1));
    tables.emplace_back("grown", csv + "1,1\n");
    tables.emplace_back("one target", csv.substr(0, csv.size() - 2) + (csv[csv.size() - 2] == '1' ? "2\n" : "1\n"));
    for (const auto& [name, table] : tables) {
      world.write("rows.csv", table);
      const CommandResult result = world.run(with(settings, {"--resume"}));
      // A table of fewer records than a minibatch is not even a design.
      const bool is_design = result.err.find("minibatch") == std::string::npos;
      EXPECT_EQ(result.code, is_design ? 65 : 78) << name << result.err;
      // The message must not say that the settings are others, although they follow from the number of records.
      EXPECT_THAT(result.err, HasSubstr(is_design ? "is not the table" : "descent.minibatch")) << name;
      EXPECT_TRUE(world.releases() == released && read_file(world.path("state/state")) == state) << name;
    }
    world.write("rows.csv", csv);
    EXPECT_EQ(world.run(with(settings, {"--resume"})).code, 0);
  }
}

// The file may not grow. What was taken until then is told before the line that says why.
TEST(MinibatchEstimate, OfARunThatFailsTheSharesAreToldFirst) {
  const EstimateWorld world;
  std::string rows = EstimateWorld::csv(270);
  for (int bad = 0; bad < 20; ++bad) rows += "none,1\n";
  world.write("rows.csv", rows);
  std::string command = "trap '' XFSZ; ulimit -f 8; exec " + std::string(NUSTREAM_COMMAND);
  for (const std::string& argument : world.estimate({})) command += " '" + argument + "'";
  const CommandResult result = run_command("/bin/sh", {"-c", command});
  EXPECT_EQ(result.code, 74) << result.err;
  const std::size_t shares =
      result.err.find("operator only, not private: 20 of 290 records (6.9%) could not be used");
  const std::size_t why = result.err.find("nustream: error: ");
  EXPECT_NE(shares, std::string::npos) << result.err;
  EXPECT_LT(shares, why) << result.err;
}

}  // namespace
}  // namespace nustream::tests
