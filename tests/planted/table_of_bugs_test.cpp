// The table of planted bugs: its page, and the switches that the patches were compiled into.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <string_view>

#include "bugs.h"
#include "command.h"
#include "example_config.h"
#include "planted_names.h"

namespace nustream::tests {
namespace {

// The compiled switches have the names that the patches had when the build was configured.
TEST(TableOfBugs, HoldsEachSwitchOnce) {
  std::set<std::string_view> names;
  for (const PlantedBug& bug : planted_bugs()) names.insert(bug.name);
  EXPECT_EQ(names, std::set<std::string_view>(planted::names.begin(), planted::names.end()));
  EXPECT_EQ(names.size(), planted_bugs().size());
}

TEST(TableOfBugs, ANameThatIsNotInItIsRefused) {
  const TemporaryFolder folder;
  const std::string config = folder.write("check.toml", example_config());
  EXPECT_EQ(run_command(NUSTREAM_PLANTED_COMMAND, {"check", config}, {}, {"NUSTREAM_PLANT=x"}).code, 128 + SIGABRT);
}

/// NUSTREAM_WRITE_DOCS=1 makes this test write the page.
TEST(TableOfBugs, IsThatOfThePage) {
  const std::string path = NUSTREAM_ROOT_DIR "/docs/planted-bugs.md";
  std::string page = read_file(path);
  const std::size_t begin = page.find("| bug |");
  ASSERT_NE(begin, std::string::npos);
  if (std::getenv("NUSTREAM_WRITE_DOCS") != nullptr) {
    std::ofstream(path, std::ios::binary) << page.substr(0, begin) << table_of_bugs();
    page = read_file(path);
  }
  EXPECT_EQ(page.substr(begin), table_of_bugs()) << "write it anew: NUSTREAM_WRITE_DOCS=1";
}

}  // namespace
}  // namespace nustream::tests
