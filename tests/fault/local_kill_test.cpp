// The real commands are killed at every named place and at random moments. No record ever shows two reports, and
// every report is counted once.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <chrono>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include "campaign.h"
#include "command.h"
#include "journal/failpoint.h"
#include "local_world.h"

namespace nustream::tests {
namespace {

constexpr int killed = 128 + SIGKILL;
constexpr std::size_t users = 3000;  // these make three batches of reports

/// What could be read: the whole lines.
std::string whole_lines(const std::string& text) {
  return text.substr(0, text.rfind('\n') + 1);
}

class KilledLocal : public ::testing::Test {
 protected:
  const LocalWorld world{users};

  [[nodiscard]] std::vector<std::string> randomize(const std::string& store) const {
    return {"local",
            "randomize",
            world.config(),
            world.path("records.csv"),
            "--quiet",
            "--set",
            "local.reports_directory=\"" + world.path(store) + "\""};
  }
  [[nodiscard]] std::vector<std::string> collect(const std::string& sums, const std::string& file) const {
    return {"local",
            "collect",
            world.config(),
            file,
            "--json",
            "--set",
            "local.commit_reports=400",
            "--set",
            "local.directory=\"" + world.path(sums) + "\""};
  }
  static std::string failpoint(std::string_view place, int count) {
    return "NUSTREAM_FAILPOINT=" + std::string(place) + ":" + std::to_string(count);
  }
  /// The model, without what this run alone met.
  [[nodiscard]] std::string model(const std::string& sums) const {
    std::vector<std::string> arguments = collect(sums, "--show");
    const CommandResult result = run_command(NUSTREAM_COMMAND, arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  }
};

TEST_F(KilledLocal, AtEveryNamedPlaceARecordShowsOneReport) {
  for (const std::string_view place : journal::report_failpoints) {
    for (const int count : {1, 2}) {
      const std::string store = std::string(place) + std::to_string(count);
      const CommandResult cut = run_command(NUSTREAM_FAULTY, randomize(store), {}, {failpoint(place, count)});
      if (place == "after-begin-reports" && count == 2) continue;  // this place is passed once
      ASSERT_EQ(cut.code, killed) << place << " was not reached";
      const CommandResult whole = run_command(NUSTREAM_COMMAND, randomize(store));
      ASSERT_EQ(whole.code, 0) << whole.err;
      ASSERT_TRUE(whole.out.compare(0, whole_lines(cut.out).size(), whole_lines(cut.out)) == 0)
          << store << ": a report that was shown is another one now";
      ASSERT_EQ(static_cast<std::size_t>(std::count(whole.out.begin(), whole.out.end(), '\n')), users);
      // Both outputs are sent, and the server counts each record once.
      const std::string both = world.write("both", whole_lines(cut.out) + whole.out);
      const CommandResult counted = run_command(NUSTREAM_COMMAND, collect(store + "-sums", both));
      ASSERT_NE(counted.out.find("\"reports\":3000,"), std::string::npos) << counted.out;
    }
  }
}

TEST_F(KilledLocal, AtEveryNamedPlaceEachReportIsCountedOnce) {
  const std::string file = world.write("reports.jsonl", run_command(NUSTREAM_COMMAND, randomize("store")).out);
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, collect("undisturbed", file)).code, 0);
  const std::string expected = model("undisturbed");
  ASSERT_NE(expected.find("\"reports\":3000,"), std::string::npos);
  for (const std::string_view place : journal::sums_failpoints) {
    for (const int count : {1, 2, 7}) {
      const std::string sums = std::string(place) + std::to_string(count);
      const CommandResult cut = run_command(NUSTREAM_FAULTY, collect(sums, file), {}, {failpoint(place, count)});
      ASSERT_EQ(cut.code, killed) << place << " was not reached";
      ASSERT_EQ(run_command(NUSTREAM_COMMAND, collect(sums, file)).code, 0);
      ASSERT_EQ(model(sums), expected) << sums;
    }
  }
}

/// The shortest of three whole lives on this machine. Kills are drawn from within it, however fast the machine is.
/// `arguments_of` takes the folder of a life.
template <typename ArgumentsOf>
std::chrono::duration<double> shortest_life(const ArgumentsOf& arguments_of) {
  std::chrono::duration<double> shortest = std::chrono::hours(1);
  for (const char* folder : {"first-life", "second-life", "third-life"}) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(run_command(NUSTREAM_COMMAND, arguments_of(folder)).code, 0);
    shortest = std::min(shortest, std::chrono::duration<double>(std::chrono::steady_clock::now() - start));
  }
  return shortest;
}

TEST_F(KilledLocal, AtRandomMoments) {
  std::mt19937_64 random(7);
  const int runs = scaled(100, 8);
  int kills = 0;
  const auto randomizing = shortest_life([&](const std::string& store) { return randomize(store); });
  const std::string reports = world.write("reports", run_command(NUSTREAM_COMMAND, randomize("first-life")).out);
  const auto collecting = shortest_life([&](const std::string& sums) { return collect(sums + "-sums", reports); });
  const auto end = [&](const std::vector<std::string>& arguments, std::chrono::duration<double> whole) {
    Command command(NUSTREAM_COMMAND, arguments);
    std::this_thread::sleep_for(whole * static_cast<double>(random() >> 11) * 0x1p-53);
    command.signal(SIGKILL);
    CommandResult result = command.wait();
    kills += result.code == killed ? 1 : 0;
    return result;
  };
  for (int i = 0; i < runs; ++i) {
    const std::string store = "random" + std::to_string(i);
    std::string shown;
    for (int life = 0; life < 4; ++life) {
      const std::string now = whole_lines(end(randomize(store), randomizing).out);
      const std::size_t common = std::min(shown.size(), now.size());
      ASSERT_TRUE(shown.compare(0, common, now, 0, common) == 0) << store << ": a record showed two reports";
      if (now.size() > shown.size()) shown = now;
    }
    const CommandResult whole = run_command(NUSTREAM_COMMAND, randomize(store));
    ASSERT_EQ(whole.code, 0) << whole.err;
    ASSERT_TRUE(whole.out.compare(0, shown.size(), shown) == 0) << store;
    const std::string file = world.write("sent", whole.out);
    const std::string sums = store + "-sums";
    for (int life = 0; life < 4; ++life) static_cast<void>(end(collect(sums, file), collecting));
    ASSERT_EQ(run_command(NUSTREAM_COMMAND, collect(sums, file)).code, 0);
    ASSERT_EQ(run_command(NUSTREAM_COMMAND, collect(sums + "-once", file)).code, 0);
    ASSERT_EQ(model(sums), model(sums + "-once"));
  }
  RecordProperty("kills", kills);
  EXPECT_GE(kills, 2 * runs) << "of eight lives a folder";
}

}  // namespace
}  // namespace nustream::tests
