// What is shipped has no kill point: neither the name of one nor the variable that asks for it.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "temporary_folder.h"

namespace nustream::tests {
namespace {

bool holds(const std::string& program, std::string_view text) {
  return read_file(program).find(text) != std::string::npos;
}

TEST(ReleaseBuild, HoldsNoKillPoint) {
  for (const std::string_view text : {"NUSTREAM_FAILPOINT", "after-rename-state", "during-append-releases",
                                      "after-sync-reports", "after-rename-sums"}) {
    ASSERT_TRUE(holds(NUSTREAM_JOURNAL_CHILD, text)) << "the test would not find " << text;
    EXPECT_FALSE(holds(NUSTREAM_SERVICE_ARCHIVE, text)) << text;
    EXPECT_FALSE(holds(NUSTREAM_COMMAND, text)) << text;
  }
}

}  // namespace
}  // namespace nustream::tests
