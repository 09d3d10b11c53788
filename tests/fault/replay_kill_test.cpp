// The real command is killed at every named place of the commit protocol and at random moments. What could be read
// stays as it was, and the end is that of an undisturbed run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <random>

#include "campaign.h"
#include "changed_streams.h"
#include "command.h"
#include "journal/failpoint.h"
#include "replay_world.h"

namespace nustream::tests {
namespace {

constexpr int killed = 128 + SIGKILL;

/// How often a run of twelve batches passes a place.
int passages(std::string_view place) {
  const bool at_an_end = place == "after-flush" || place == "after-cut-torn-tails" ||
                         place == "after-recover-ledger" || place == "after-recover-releases";
  return at_an_end ? 1 : 12;
}

class KilledReplay : public ::testing::Test {
 protected:
  // 6,000 records, every 97th of which is unusable, come in batches of 500: twelve commits, with five releases each.
  const ReplayWorld world{6000};
  const std::vector<std::string> settings{"--set", "state.commit_records=500", "--set",  "state.commit_seconds=1e9",
                                          "--set", "state.rejects=true",       "--quiet"};
  const std::vector<std::string> insecure{"--insecure-seed", "11"};

  static std::vector<std::string> join(std::vector<std::string> a, const std::vector<std::string>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  [[nodiscard]] bool has_state(const std::string& state) const {
    return std::filesystem::exists(world.path(state + "/state"));
  }
  /// Arguments that begin anew, or resume where there is a state.
  [[nodiscard]] std::vector<std::string> arguments(const std::vector<std::string>& run,
                                                   const std::string& state) const {
    return world.replay(has_state(state) ? join(run, {"--resume"}) : run, state);
  }
  [[nodiscard]] double total_rho(const std::string& state, const std::vector<std::string>& key) const {
    std::vector<std::string> inspect{"inspect", world.path(state), "--json"};
    const CommandResult result = run_command(NUSTREAM_COMMAND, join(inspect, key));
    EXPECT_EQ(result.code, 0) << result.err;
    simdjson::dom::parser parser;
    return parser.parse(result.out)["total_rho"].get_double().value();
  }
  [[nodiscard]] std::uint64_t epoch_of(const std::string& state, const std::vector<std::string>& key) const {
    std::vector<std::string> inspect{"inspect", world.path(state), "--json"};
    const CommandResult result = run_command(NUSTREAM_COMMAND, join(inspect, key));
    EXPECT_EQ(result.code, 0) << result.err;
    simdjson::dom::parser parser;
    return parser.parse(result.out)["epoch"].get_uint64().value();
  }
  /// What could be read after a kill, without a last line that was cut short.
  [[nodiscard]] std::string readable(const std::string& state) const {
    std::string text = std::filesystem::exists(world.path(state + "/releases.jsonl")) ? world.releases(state) : "";
    return text.substr(0, text.rfind('\n') + 1);
  }
  /// Kills a run at each named place, once early and once late, and expects the same releases and the same spend.
  void expect_undisturbed(const std::vector<std::string>& run) const {
    ASSERT_EQ(world.run(run, "undisturbed").code, 0);
    const std::string expected = world.releases("undisturbed");
    const double spent = total_rho("undisturbed", insecure);
    int kills = 0;
    for (const std::string_view place : journal::failpoints) {
      for (const int count : {1, 5}) {
        const std::string state = std::string(place) + std::to_string(count);
        const std::string failpoint = "NUSTREAM_FAILPOINT=" + std::string(place) + ":" + std::to_string(count);
        const CommandResult result = run_command(NUSTREAM_FAULTY, arguments(run, state), {}, {failpoint});
        ASSERT_TRUE(result.code == killed || result.code == 0) << result.err;
        kills += result.code == killed ? 1 : 0;
        const std::string before = readable(state);
        ASSERT_EQ(run_command(NUSTREAM_COMMAND, arguments(run, state)).code, 0) << state;
        ASSERT_TRUE(world.releases(state) == expected) << state << ": the releases differ";
        ASSERT_TRUE(expected.starts_with(before)) << state << ": something else was readable";
        ASSERT_EQ(total_rho(state, insecure), spent) << state;
      }
    }
    EXPECT_GE(kills, 10);
  }
};

TEST_F(KilledReplay, AtEveryNamedPlaceEndsAsAnUndisturbedRun) {
  const std::vector<std::string> run = join(settings, insecure);
  ASSERT_EQ(world.run(run, "undisturbed").code, 0);
  const std::string expected = world.releases("undisturbed");
  const double spent = total_rho("undisturbed", insecure);
  int kills = 0;
  for (const std::string_view place : journal::failpoints) {
    for (const int count : {1, 2, 7}) {
      const std::string state = std::string(place) + std::to_string(count);
      const std::string failpoint = "NUSTREAM_FAILPOINT=" + std::string(place) + ":" + std::to_string(count);
      CommandResult result = run_command(NUSTREAM_FAULTY, arguments(run, state), {}, {failpoint});
      if (result.code != killed) {  // only a resume passes this place
        result = run_command(NUSTREAM_FAULTY, world.replay(join(run, {"--resume"}), state), {}, {failpoint});
      }
      ASSERT_EQ(result.code, count > passages(place) ? 0 : killed) << place << ", time " << count;
      kills += result.code == killed ? 1 : 0;
      const std::string before = readable(state);
      ASSERT_EQ(run_command(NUSTREAM_COMMAND, arguments(run, state)).code, 0) << state;
      ASSERT_TRUE(world.releases(state) == expected) << state << ": the releases differ";
      ASSERT_TRUE(expected.compare(0, before.size(), before) == 0) << state << ": something else was readable";
      ASSERT_EQ(total_rho(state, insecure), spent) << state;
    }
  }
  RecordProperty("kills", kills);
}

// An epoch that goes on is killed around its first state, which holds where it began. What follows is the same.
TEST_F(KilledReplay, AroundTheFirstStateOfAnEpochThatGoesOnEndsAsAnUndisturbedRun) {
  const std::vector<std::string> run = join(settings, insecure);
  const std::vector<std::string> first = join(run, {"--to", "3000"});
  const std::vector<std::string> second = join(run, {"--new-epoch"});
  ASSERT_EQ(world.run(first, "undisturbed").code, 0);
  ASSERT_EQ(world.run(second, "undisturbed").code, 0);
  const std::string expected = world.releases("undisturbed");
  const double spent = total_rho("undisturbed", insecure);
  int resumed = 0;
  for (const std::string_view place : journal::failpoints) {
    const std::string state(place);
    ASSERT_EQ(world.run(first, state).code, 0);
    const CommandResult result =
        run_command(NUSTREAM_FAULTY, world.replay(second, state), {}, {"NUSTREAM_FAILPOINT=" + state + ":1"});
    if (result.code == killed) {
      const bool has_begun = epoch_of(state, insecure) == 1;
      resumed += has_begun ? 1 : 0;
      ASSERT_EQ(world.run(has_begun ? join(run, {"--resume"}) : second, state).code, 0) << state;
    }
    ASSERT_TRUE(world.releases(state) == expected) << state << ": the releases differ";
    ASSERT_EQ(total_rho(state, insecure), spent) << state;
  }
  EXPECT_GT(resumed, 1) << "killed with the epoch's first state there";
}

TEST_F(KilledReplay, AtRandomMomentsEndsAsAnUndisturbedRun) {
  const std::vector<std::string> run = join(settings, insecure);
  ASSERT_EQ(world.run(run, "undisturbed").code, 0);
  const std::string expected = world.releases("undisturbed");
  const double spent = total_rho("undisturbed", insecure);
  std::mt19937_64 bits(asked("NUSTREAM_SEED", 17));
  const int wanted = static_cast<int>(asked("NUSTREAM_KILLS", static_cast<std::uint64_t>(scaled(200, 30))));
  int kills = 0;
  for (int attempt = 0; kills < wanted && attempt < 40 * wanted; ++attempt) {
    const std::string state = "random" + std::to_string(attempt);
    std::string shown;
    for (int life = 0; life < 3; ++life) {
      Command command(NUSTREAM_COMMAND, arguments(run, state));
      ::usleep(static_cast<useconds_t>(2000 + bits() % 40000));
      command.signal(SIGKILL);
      kills += command.wait().code == killed ? 1 : 0;
      const std::string now = readable(state);
      ASSERT_TRUE(expected.starts_with(now)) << state << ": something else was readable";
      ASSERT_GE(now.size(), shown.size()) << state << ": a release was taken back";
      shown = now;
    }
    ASSERT_EQ(run_command(NUSTREAM_COMMAND, arguments(run, state)).code, 0) << state;
    ASSERT_TRUE(world.releases(state) == expected) << state;
    ASSERT_EQ(total_rho(state, insecure), spent) << state;
    std::filesystem::remove_all(world.path(state));
  }
  RecordProperty("kills", kills);
  EXPECT_GE(kills, wanted);
}

// With running sums, a step that was open at the kill is read again, and no noise is used over two inputs.
TEST_F(KilledReplay, OfRunningSumsEndsAsAnUndisturbedRun) {
  std::vector<std::string> run = join(settings, insecure);
  for (const char* each :
       {"model.estimator=moments", "moments.row_norm=4", "moments.residual_bound=3",
        "moments.stages=[{from=2100, residual_bound=1.5}]", "intervals.kind=residuals", "release.every=70"}) {
    run.insert(run.end(), {"--set", each});
  }
  expect_undisturbed(run);
}

// The scale of x is far too small, so that units grow at looks, which come after 16 and 32 steps of 125 records: the
// fourth and the eighth commit, of 500 records each, end where a look comes.
TEST_F(KilledReplay, OfUnitsThatGrowEndsAsAnUndisturbedRun) {
  std::vector<std::string> run = join(settings, insecure);
  for (const char* each :
       {"model.estimator=moments", "moments.row_norm=4", "moments.residual_bound=3", "features.0.scale=0.01",
        "moments.stages=growing", "privacy.rho=50", "release.every=125"}) {
    run.insert(run.end(), {"--set", each});
  }
  expect_undisturbed(run);
  EXPECT_THAT(world.releases("undisturbed"), ::testing::HasSubstr("\"grown\":{\"x\":{"));
}

// With a real key, every computation draws the same noise from the sealed keys, or from none: what could be read once
// is never contradicted.
TEST_F(KilledReplay, UnderARealKeyNeverReleasesAStepWithTwoValues) {
  ASSERT_EQ(world.run(settings, "undisturbed").code, 0);
  const double spent = total_rho("undisturbed", {});
  std::mt19937_64 bits(23);
  const int folders = scaled(60, 8);
  int kills = 0;
  for (int i = 0; i < folders; ++i) {
    const std::string state = "private" + std::to_string(i);
    std::string shown;
    for (int life = 0; life < 6; ++life) {
      const std::string_view place = journal::failpoints[bits() % journal::failpoints.size()];
      const std::string failpoint = "NUSTREAM_FAILPOINT=" + std::string(place) + ":" + std::to_string(1 + bits() % 4);
      const CommandResult result = run_command(NUSTREAM_FAULTY, arguments(settings, state), {}, {failpoint});
      ASSERT_TRUE(result.code == killed || result.code == 0) << result.err;
      kills += result.code == killed ? 1 : 0;
      const std::string now = readable(state);
      ASSERT_TRUE(now.size() >= shown.size() && now.compare(0, shown.size(), shown) == 0)
          << state << ": a release that was readable has changed";
      shown = now;
    }
    ASSERT_EQ(run_command(NUSTREAM_COMMAND, arguments(settings, state)).code, 0);
    const std::string whole = world.releases(state);
    ASSERT_TRUE(whole.compare(0, shown.size(), shown) == 0);
    EXPECT_EQ(std::count(whole.begin(), whole.end(), '\n'), 60);
    ASSERT_EQ(total_rho(state, {}), spent) << state;
  }
  RecordProperty("kills", kills);
  EXPECT_GE(kills, 3 * folders) << "of six lives each; one that met no place came to its end";
}

// The run is killed at the end of the first of three passes, in the second, and at the second's end. Records that a
// later pass reads again are compared as well as those that it passes over.
TEST_F(KilledReplay, InSeveralPassesGoesOnOverTheSameInputAlone) {
  const std::string csv = read_file(world.path("rows.csv"));
  std::vector<std::string> run{"--passes", "3", "--set", "state.commit_records=2000", "--quiet"};
  run = join(run, insecure);
  ASSERT_EQ(world.run(run, "undisturbed").code, 0);
  for (const char* count : {"3", "4", "6"}) {  // a pass has three batches
    const std::string state = std::string("passes") + count;
    const std::string failpoint = std::string("NUSTREAM_FAILPOINT=after-commit:") + count;
    ASSERT_EQ(run_command(NUSTREAM_FAULTY, arguments(run, state), {}, {failpoint}).code, killed);
    const std::string before = readable(state);
    for (const ChangedStream& change : changes(csv)) {
      world.write("rows.csv", change.csv);
      EXPECT_EQ(run_command(NUSTREAM_COMMAND, arguments(run, state)).code, 65) << change.name;
      EXPECT_TRUE(readable(state) == before) << change.name;
    }
    world.write("rows.csv", csv);
    ASSERT_EQ(run_command(NUSTREAM_COMMAND, arguments(run, state)).code, 0);
    EXPECT_TRUE(world.releases(state) == world.releases("undisturbed")) << count;
  }
}

}  // namespace
}  // namespace nustream::tests
