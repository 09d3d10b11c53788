// What earlier versions left behind is continued: the folders in tests/golden/versions, each made once by its
// version.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "command.h"
#include "release_text.h"

namespace nustream::tests {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> folders_of_all_versions() {
  std::vector<fs::path> folders;
  for (const auto& version : fs::directory_iterator(fs::path(NUSTREAM_TESTS_DIR) / "golden/versions")) {
    for (const auto& folder : fs::directory_iterator(version)) {
      if (folder.is_directory()) folders.push_back(folder.path());
    }
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::string name_of(const ::testing::TestParamInfo<fs::path>& test) {
  std::string name = test.param.parent_path().filename().string() + "_" + test.param.filename().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '.' || c == '-'; }, '_');
  return name;
}

class Versions : public ::testing::TestWithParam<fs::path> {
 protected:
  /// Copies what a version left, which a test may change. Folders that others can write to would be refused, whatever
  /// a checkout made of them.
  Versions() {
    fs::copy(GetParam().parent_path(), folder_.path() / "version", fs::copy_options::recursive);
    here_ = folder_.path() / "version" / GetParam().filename();
    for (const auto& file : fs::directory_iterator(here_ / "state")) {
      fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
    }
    fs::permissions(here_ / "state", fs::perms::owner_all);
  }
  [[nodiscard]] CommandResult replay(const std::string& state, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{"replay",          (here_ / "stream.toml").string(),
                                       "--insecure-seed", "11",
                                       "--set",           "state.directory=\"" + (here_ / state).string() + "\""};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_command(NUSTREAM_COMMAND, arguments);
  }
  [[nodiscard]] std::string releases(const std::string& state) const {
    return read_file(here_ / state / "releases.jsonl");
  }

  TemporaryFolder folder_;
  fs::path here_;
};

TEST_P(Versions, AreGoneOnWith) {
  const std::string before = releases("state");
  ASSERT_FALSE(before.empty());
  const CommandResult resumed = replay("state", {"--resume"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  const std::string after = releases("state");
  EXPECT_TRUE(after.starts_with(before)) << "what was published stays, byte for byte";
  EXPECT_GT(after.size(), before.size());
  const CommandResult whole = replay("undisturbed", {});
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_EQ(estimates_in(after), estimates_in(releases("undisturbed"))) << "as if one version had done it all";
}

TEST_P(Versions, AreInspectedAndBeginANewEpoch) {
  const CommandResult inspected =
      run_command(NUSTREAM_COMMAND, {"inspect", (here_ / "state").string(), "--insecure-seed", "11"});
  EXPECT_EQ(inspected.code, 0) << inspected.err;
  const CommandResult renewed = replay("state", {"--new-epoch"});
  ASSERT_EQ(renewed.code, 0) << renewed.err;
  EXPECT_THAT(releases("state"), ::testing::HasSubstr("\"epoch\":1"));
}

INSTANTIATE_TEST_SUITE_P(All, Versions, ::testing::ValuesIn(folders_of_all_versions()), name_of);

}  // namespace
}  // namespace nustream::tests
