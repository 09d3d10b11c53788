// The main function of the programs that play rows of audits.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "benchmarks/audit_rows.h"
#include "temporary_folder.h"

namespace nustream::benchmarks {
namespace {

/// The exit code of a program with the rows a and b, of which b misses its bar, and what it played.
struct Played {
  int code;
  std::vector<std::string> rows;
};

Played play(const std::vector<std::string>& names) {
  const tests::TemporaryFolder folder;
  std::vector<std::string> words{"program", folder.path().string()};
  words.insert(words.end(), names.begin(), names.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  Played played{};
  played.code =
      play_rows(static_cast<int>(argv.size()), argv.data(), [&](const std::filesystem::path&, const auto& is_wanted) {
        bool all_met = true;
        for (const char* row : {"a", "b"}) {
          if (!is_wanted(row)) continue;
          played.rows.emplace_back(row);
          all_met = all_met && played.rows.back() == "a";
        }
        return all_met;
      });
  return played;
}

TEST(PlayRows, PlaysAllRowsOrThoseThatAreNamed) {
  EXPECT_EQ(play({}).code, 1);
  EXPECT_EQ(play({}).rows, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(play({"a"}).code, 0);
  EXPECT_EQ(play({"b", "a"}).code, 1);
  EXPECT_EQ(play({"a"}).rows, std::vector<std::string>{"a"});
}

// A campaign with a name that is misspelt played nothing, and was taken for one that meets its bars.
TEST(PlayRows, RefusesANameThatIsNoRows) {
  testing::internal::CaptureStderr();
  const Played played = play({"a", "bb"});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "no row is called 'bb'; there are a, b\n");
  EXPECT_EQ(played.code, 64);
}

}  // namespace
}  // namespace nustream::benchmarks
