// `nustream fit` is killed at every named place of its commit and at random moments. What was shown or can be read is
// in the ledger, and nothing else is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <simdjson.h>

#include "command.h"
#include "journal/failpoint.h"
#include "normal_table.h"
#include "random_kills.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

class KilledFit : public ::testing::Test {
 protected:
  void SetUp() override { file = folder.write("table.csv", normal_table()); }
  [[nodiscard]] std::vector<std::string> arguments(const std::string& state) const {
    return {"fit",
            file,
            "--target",
            "y",
            "--features",
            "a",
            "--rho",
            "0.5",
            "--state",
            (folder.path() / state).string(),
            "--key-directory",
            (folder.path() / "keys").string()};
  }
  [[nodiscard]] std::size_t releases(const std::string& state) const {
    const std::filesystem::path path = folder.path() / state / "releases.jsonl";
    if (!std::filesystem::exists(path)) return 0;
    const std::string text = read_file(path);
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  /// Makes one fit more, undisturbed. Ledger and releases then tell of the same fits, and the spend is theirs.
  void expect_every_release_is_charged(const std::string& state) const {
    const std::size_t before = releases(state);
    const CommandResult last = run_command(NUSTREAM_COMMAND, arguments(state));
    ASSERT_EQ(last.code, 0) << state << ": " << last.err;
    const CommandResult shown =
        run_command(NUSTREAM_COMMAND, {"inspect", (folder.path() / state).string(), "--json"});
    ASSERT_EQ(shown.code, 0) << shown.err;
    simdjson::dom::parser parser;
    const auto json = parser.parse(shown.out);
    const std::size_t fits = json["ledger"].get_array().size();
    EXPECT_EQ(fits, releases(state)) << state;
    EXPECT_GE(fits, before + 1) << state;
    EXPECT_NEAR(json["total_rho"].get_double().value(), 0.5 * static_cast<double>(fits), 1e-9) << state;
  }

  const TemporaryFolder folder;
  std::string file;
};

TEST_F(KilledFit, AtEveryNamedPlaceLosesNoSpend) {
  int reached = 0;
  for (const std::string_view place : journal::failpoints) {
    if (place.find("rejects") != std::string_view::npos) continue;  // a fit writes no rejects
    for (const int fits : {0, 1}) {
      const std::string state = std::string(place) + std::to_string(fits);
      if (fits == 1) {
        ASSERT_EQ(run_command(NUSTREAM_COMMAND, arguments(state)).code, 0);
      }
      const CommandResult result =
          run_command(NUSTREAM_FAULTY, arguments(state), {}, {"NUSTREAM_FAILPOINT=" + std::string(place) + ":1"});
      reached += result.code == killed ? 1 : 0;
      if (result.code == killed) {
        EXPECT_EQ(result.out, "") << place << ": shown before its commit was whole";
      }
      ASSERT_NO_FATAL_FAILURE(expect_every_release_is_charged(state));
    }
  }
  EXPECT_GE(reached, 12);
}

TEST_F(KilledFit, AtRandomMomentsLosesNoSpend) {
  std::mt19937_64 bits(29);
  int kills = 0;
  for (int attempt = 0; kills < 8 && attempt < 400; ++attempt) {
    const std::string state = "random" + std::to_string(attempt);
    kills += kill_three_times(arguments(state), bits);
    ASSERT_NO_FATAL_FAILURE(expect_every_release_is_charged(state));
  }
  EXPECT_GE(kills, 8);
}

}  // namespace
}  // namespace nustream::tests
