// What the ledger of a folder reserves: a few lines, which pay for what could be read wherever a run is killed. Where
// the state is lost, what was reserved is charged; with the state there, the exact number of steps counts.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "command.h"
#include "journal/failpoint.h"
#include "replay_inspect.h"

namespace nustream::tests {
namespace {

constexpr int killed = 128 + SIGKILL;

class Reserved : public ::testing::Test {
 protected:
  /// Settings with a spend that grows for as long as the test lasts, batches of 50 records and a release every 100.
  [[nodiscard]] static std::vector<std::string> with(std::vector<std::string> more) {
    more.insert(more.end(), {"--set", "noise.nu=1e-6", "--set", "state.commit_records=50", "--set",
                             "state.commit_seconds=1e9", "--set", "state.witness=\"none\"", "--quiet"});
    return more;
  }
  [[nodiscard]] CommandResult run(std::vector<std::string> more, const std::string& state = "state") const {
    return world.run(with(std::move(more)), state);
  }
  /// Runs until the place is passed for the `time`-th time, where it is killed; else it ends by itself.
  [[nodiscard]] int run_to(const std::string& place, int time, const std::string& state) const {
    return run_command(NUSTREAM_FAULTY, world.replay(with({}), state), {},
                       {"NUSTREAM_FAILPOINT=" + place + ":" + std::to_string(time)})
        .code;
  }
  [[nodiscard]] std::vector<std::string> ledger(const std::string& state = "state") const {
    std::ifstream file(world.path(state + "/ledger"));
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line) && !file.eof();) lines.push_back(line);
    return lines;
  }
  [[nodiscard]] simdjson::dom::element field(const std::string& line, const char* name) {
    return parser.parse(line)[name].value();
  }
  [[nodiscard]] double rho(const std::string& line) { return field(line, "rho").get_double(); }
  [[nodiscard]] std::uint64_t steps(const std::string& line) { return field(line, "steps").get_uint64(); }
  /// An epoch of the folder's ledger, as inspect shows it.
  [[nodiscard]] simdjson::dom::element epoch(std::size_t index, const std::string& state) {
    return inspect(world, parser, state)["ledger"].at(index).value();
  }

  /// What somebody without the key is told, who has the stream's first public key.
  [[nodiscard]] std::string verified(const std::string& state, const std::string& key) {
    const CommandResult result =
        run_command(NUSTREAM_COMMAND, {"verify", world.path(state + "/releases.jsonl"), world.path(state + "/ledger"),
                                       "--public-key", key, "--json"});
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  }
  [[nodiscard]] std::string public_key(const std::string& state) {
    return std::string(inspect(world, parser, state)["public_key"].get_string().value());
  }

  const ReplayWorld world{2000};
  simdjson::dom::parser parser;
};

// A total over replacements is four times one over zero-outs, so that totals are compared by their neighbours.
TEST_F(Reserved, EpochsAboutOtherNeighboursAreVerified) {
  ASSERT_EQ(run({"--to", "500"}).code, 0);
  ASSERT_EQ(
      run({"--new-epoch", "--to", "1000", "--set", "privacy.adjacency=replace-one", "--set", "privacy.rho=0.1"}).code,
      0);
  static_cast<void>(verified("state", public_key("state")));
  ASSERT_EQ(run({"--new-epoch", "--to", "1500", "--set", "privacy.rho=0.1"}).code, 0);
  static_cast<void>(verified("state", public_key("state")));
}

TEST_F(Reserved, OneLineADoublingAndOneThatCloses) {
  ASSERT_EQ(run({}).code, 0);
  const std::vector<std::string> lines = ledger();
  ASSERT_EQ(lines.size(), 7U) << "64, 128, … 2048, then what was taken; 40 batches";
  std::uint64_t reserved = 64;
  for (std::size_t i = 0; i + 1 < lines.size(); ++i, reserved *= 2) EXPECT_EQ(steps(lines[i]), reserved);
  EXPECT_EQ(steps(lines.back()), 2000U);
  EXPECT_EQ(lines.back().find("\"taken\""), std::string::npos);
  const auto shown = inspect(world, parser, "state");
  EXPECT_NE(shown["reserved"].error(), simdjson::SUCCESS) << "nothing is reserved any more";
  // A run that has nothing to read leaves the folder as it is.
  ASSERT_EQ(run({"--resume"}).code, 0);
  EXPECT_EQ(ledger(), lines);
}

// The last releases are signed by nobody, and named by the line that closes; of a run that was killed, by the next
// one's.
TEST_F(Reserved, TheLineThatClosesVouchesForTheLastRelease) {
  ASSERT_EQ(run({}).code, 0);
  const std::string whole = verified("state", public_key("state"));
  EXPECT_NE(whole.find("\"unsigned_releases_at_the_end\":0"), std::string::npos) << whole;
  EXPECT_NE(whole.find("\"ends_as_the_ledger_names\":true"), std::string::npos) << whole;
  ASSERT_EQ(run_to("after-commit", 15, "killed"), killed);  // 750 steps, seven releases
  const std::string running = verified("killed", public_key("killed"));
  EXPECT_EQ(running.find("\"ends_as_the_ledger_names\""), std::string::npos) << running;
  ASSERT_EQ(run({"--resume", "--to", "750"}, "killed").code, 0);
  EXPECT_EQ(ledger("killed").back().find("\"taken\""), std::string::npos) << "it had no record to read";
  const std::string closed = verified("killed", public_key("killed"));
  EXPECT_NE(closed.find("\"ends_as_the_ledger_names\":true"), std::string::npos) << closed;
}

// Whoever has the old key later signs nothing behind the line that says what was taken under it.
TEST_F(Reserved, AKeyIsHandedOnBehindALineThatCloses) {
  ASSERT_EQ(run_to("after-commit", 15, "state"), killed);
  const std::string first = public_key("state");
  const std::string second = world.path("second.key");
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"key", "new", second}).code, 0);
  const CommandResult rotated = run_command(NUSTREAM_COMMAND, {"key", "rotate", world.path("state"), second});
  ASSERT_EQ(rotated.code, 0) << rotated.err;
  const std::vector<std::string> lines = ledger();
  EXPECT_NE(lines.back().find("\"rotated\":true"), std::string::npos);
  EXPECT_EQ(steps(lines[lines.size() - 2]), 750U);
  EXPECT_EQ(lines[lines.size() - 2].find("\"taken\""), std::string::npos);
  EXPECT_NE(verified("state", first).find("\"ends_as_the_ledger_names\":true"), std::string::npos);
  ASSERT_EQ(run({"--resume"}).code, 0);
  EXPECT_NE(verified("state", first).find("\"ends_as_the_ledger_names\":true"), std::string::npos);
}

TEST_F(Reserved, ALostStateIsChargedWhatWasReserved) {
  ASSERT_EQ(run_to("after-commit", 11, "state"), killed);  // 550 steps of 1,024
  const std::string last = ledger().back();
  ASSERT_EQ(steps(last), 1024U);
  const auto shown = inspect(world, parser, "state");
  const double taken = shown["total_rho"].get_double();
  EXPECT_EQ(shown["ledger"].at(0)["steps"].get_uint64().value(), 550U);
  EXPECT_EQ(shown["reserved"]["steps"].get_uint64().value(), 1024U);
  const double reserved = shown["reserved"]["rho"].get_double();
  EXPECT_EQ(reserved, rho(last));
  EXPECT_GT(reserved, taken);
  std::filesystem::copy(world.path("state"), world.path("kept"), std::filesystem::copy_options::recursive);
  std::filesystem::remove(world.path("state/state"));
  ASSERT_EQ(run({"--new-epoch", "--from", "0", "--to", "100"}).code, 0);
  EXPECT_EQ(epoch(0, "state")["rho"].get_double().value(), reserved);
  const double new_epoch = epoch(1, "state")["rho"].get_double();
  EXPECT_NEAR(inspect(world, parser, "state")["total_rho"].get_double().value(), reserved + new_epoch, 1e-9);
  // The same with the state there.
  ASSERT_EQ(run({"--new-epoch", "--from", "0", "--to", "100"}, "kept").code, 0);
  EXPECT_EQ(epoch(0, "kept")["rho"].get_double().value(), taken);
  EXPECT_NEAR(inspect(world, parser, "kept")["total_rho"].get_double().value(), taken + new_epoch, 1e-9);
  // It stays so where the new state is lost as well, because the ledger was told.
  std::filesystem::remove(world.path("kept/state"));
  ASSERT_EQ(run({"--new-epoch", "--from", "0", "--to", "100"}, "kept").code, 0);
  EXPECT_EQ(epoch(0, "kept")["rho"].get_double().value(), taken);
}

// The kill comes between the line that reserves and the commit of the steps that use it, and everywhere else.
TEST_F(Reserved, PaysForWhatWasReadableWhereverARunIsKilled) {
  int kills = 0;
  for (const std::string_view place : journal::failpoints) {
    for (const int time : {1, 2, 3, 5}) {
      const std::string state = std::string(place) + std::to_string(time);
      if (run_to(std::string(place), time, state) != killed) continue;
      ++kills;
      const bool has_releases = std::filesystem::exists(world.path(state + "/releases.jsonl"));
      std::string releases = has_releases ? world.releases(state) : "";
      releases.resize(releases.rfind('\n') + 1);
      std::filesystem::remove(world.path(state + "/state"));
      if (releases.empty()) continue;
      const std::string last = releases.substr(releases.rfind('\n', releases.size() - 2) + 1);
      const double readable = rho(last);
      const std::vector<std::string> lines = ledger(state);
      ASSERT_FALSE(lines.empty()) << state;
      ASSERT_GE(steps(lines.back()), field(last, "step").get_uint64().value()) << state;
      ASSERT_GE(rho(lines.back()), readable) << state;
      ASSERT_EQ(run({"--new-epoch", "--to", "100", "--from", "0"}, state).code, 0) << state;
      ASSERT_GE(epoch(0, state)["rho"].get_double().value(), readable) << state;
    }
  }
  EXPECT_GT(kills, 20);
}

// With a budget of what 600 steps cost, all of them are taken, whether the run is killed or not.
TEST_F(Reserved, NothingEndsEarly) {
  ASSERT_EQ(run({"--to", "600"}, "measured").code, 0);
  const double budget = inspect(world, parser, "measured")["total_rho"].get_double();
  const std::vector<std::string> limited{"--set", fmt::format("privacy.budget={:.17g}", budget)};
  ASSERT_EQ(run(limited).code, 73);
  const std::uint64_t taken = epoch(0, "state")["steps"].get_uint64();
  EXPECT_GE(taken, 600U);
  std::vector<std::string> killing = with(limited);
  ASSERT_EQ(
      run_command(NUSTREAM_FAULTY, world.replay(killing, "twice"), {}, {"NUSTREAM_FAILPOINT=after-commit:11"}).code,
      killed);
  EXPECT_LE(rho(ledger("twice").back()), budget);
  std::vector<std::string> resuming = limited;
  resuming.push_back("--resume");
  ASSERT_EQ(run(resuming, "twice").code, 73);
  EXPECT_EQ(epoch(0, "twice")["steps"].get_uint64().value(), taken);
}

}  // namespace
}  // namespace nustream::tests
