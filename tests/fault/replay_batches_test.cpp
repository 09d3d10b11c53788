// Where a replay closes its batches, and what it takes from records whose time is wrong. Neither shows in the
// releases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "replay_world.h"

namespace nustream::tests {
namespace {

/// A stream of many features whose every step is released, with some 4 kB a release.
class WideWorld {
 public:
  WideWorld() {
    std::string header = "y";
    std::string toml;
    for (std::size_t j = 0; j < features; ++j) {
      header += fmt::format(",feature_{}", j);
      toml += fmt::format("[[features]]\ncolumn = \"feature_{}\"\n", j);
    }
    std::mt19937_64 bits(3);
    std::normal_distribution<double> normal;
    std::string rows = header + '\n';
    for (std::size_t i = 0; i < records; ++i) {
      rows += fmt::format("{:.3f}", normal(bits));
      for (std::size_t j = 0; j < features; ++j) rows += fmt::format(",{:.3f}", normal(bits));
      rows += '\n';
    }
    folder_.write("rows.csv", rows);
    config_ = folder_.write("wide.toml", R"([stream]
name = "wide"
input = "rows.csv"
[target]
column = "y"
)" + toml + R"([descent]
step_size = 0.001
clip_norm = 1.0
[privacy]
rho = 0.5
delta = 1e-6
[noise]
nu = 0.01
[release]
every = 1
[state]
commit_seconds = 3600
)");
  }
  [[nodiscard]] CommandResult run(const std::string& state, std::uint64_t commit_records,
                                  std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"replay", config_, "--quiet", "--insecure-seed", "7", "--set",
                               "state.directory=\"" + path(state) + "\"", "--set",
                               "state.commit_records=" + std::to_string(commit_records)});
    return run_command(NUSTREAM_COMMAND, more);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  [[nodiscard]] std::string file(const std::string& state, const char* name) const {
    return read_file(folder_.path() / state / name);
  }

  static constexpr std::size_t features = 80;
  static constexpr std::size_t records = 9000;

 private:
  TemporaryFolder folder_;
  std::string config_;
};

std::ptrdiff_t lines_in(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

/// The position at which the first line of a ledger says that its batch ends.
std::size_t end_of_first_batch(const std::string& ledger) {
  constexpr std::string_view member = "\"to\":";
  const std::size_t at = ledger.find(member);
  return at == std::string::npos ? 0 : std::stoul(ledger.substr(at + member.size()));
}

// The outbox would grow with the input: a batch closes at 8 MiB of releases, whatever its count of records is.
TEST(Batches, CloseByTheBytesOfTheirReleases) {
  const WideWorld world;
  const CommandResult by_bytes = world.run("by-bytes", 1'000'000'000);
  ASSERT_EQ(by_bytes.code, 0) << by_bytes.err;
  ASSERT_EQ(world.run("by-count", 100).code, 0);
  const std::string releases = world.file("by-bytes", "releases.jsonl");
  ASSERT_GT(releases.size(), std::size_t{24} << 20) << "several batches of 8 MiB";
  // The first line of the ledger names where the first batch ends, some 8 MiB of releases and a read of 2,048 rows
  // from the start. A single batch would end with the input.
  const std::size_t bytes_of_release = releases.size() / WideWorld::records;
  const std::size_t first_batch = end_of_first_batch(world.file("by-bytes", "ledger"));
  EXPECT_GT(first_batch, 0U);
  EXPECT_LE(first_batch * bytes_of_release, (std::size_t{9} << 20) + 2048 * bytes_of_release);
  EXPECT_TRUE(releases == world.file("by-count", "releases.jsonl")) << "a border of batches shows";
  // The stream goes on behind such a batch as behind any other.
  ASSERT_EQ(world.run("parts", 1'000'000'000, {"--to", "5000"}).code, 0);
  ASSERT_EQ(world.run("parts", 1'000'000'000, {"--resume"}).code, 0);
  std::string last = world.file("parts", "releases.jsonl");
  EXPECT_EQ(lines_in(last), lines_in(releases));
}

/// The rows of a stream, each with a time; the 500th has another one.
std::string timed(const std::string& other) {
  const std::string rows = ReplayWorld::csv(1000);
  std::string text = "ts,x,y\n";
  std::size_t at = rows.find('\n') + 1;
  for (std::size_t i = 0; at < rows.size(); ++i) {
    const std::size_t end = rows.find('\n', at);
    const std::string time = fmt::format("2026-01-01T{:02}:{:02}:{:02}Z", i / 3600, i / 60 % 60, i % 60);
    text += (i == 500 ? other : time) + "," + rows.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return text;
}

// It is a record like any other, and what follows it does not become late because of it.
TEST(RecordOfAnotherTime, ChangesNoRelease) {
  const ReplayWorld world(1);
  std::string before;
  for (const char* const time : {"2026-01-01T00:08:20Z", "2099-12-31T23:59:59Z", "9999-12-31T23:59:59Z", "1e300",
                                 "1970-01-01T00:00:00Z", "?"}) {
    SCOPED_TRACE(time);
    const std::string state = "state-" + std::to_string(std::hash<std::string>{}(time));
    const std::string input = world.write(state + ".csv", timed(time));
    const CommandResult result = world.run({input, "--insecure-seed", "3", "--set", "stream.time=\"ts\"", "--json",
                                            "--operator-json", world.path("told.json")},
                                           state);
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.out, ::testing::HasSubstr("\"steps\":1000,"));
    EXPECT_THAT(read_file(world.path("told.json")), ::testing::HasSubstr("\"rejected\":10,"))
        << "every 97th, and no other";
    if (before.empty()) before = world.releases(state);
    EXPECT_TRUE(world.releases(state) == before);
  }
}

}  // namespace
}  // namespace nustream::tests
