// Numbers are written as people write them, and nothing else of a text is changed.
#include <gtest/gtest.h>

#include "config/settings_tree.h"

namespace nustream::config {
namespace {

TEST(ShortNumbers, AreReadAsTheSame) {
  EXPECT_EQ(with_short_numbers("delta = 9.9999999999999995e-07\n"), "delta = 1e-06\n");
  EXPECT_EQ(with_short_numbers("a = [ 0.10000000000000001, -0.29999999999999999 ]"), "a = [ 0.1, -0.3 ]");
  EXPECT_EQ(with_short_numbers("a = 0.30000000000000004"), "a = 0.30000000000000004") << "it is no shorter";
  EXPECT_EQ(with_short_numbers("a = 3.0000000000000000"), "a = 3.0") << "a fraction stays one";
}

TEST(ShortNumbers, LeavesEverythingElse) {
  for (const char* const text :
       {"name = '9.9999999999999995e-07'", "a = \"\\\"9.9999999999999995e-07\"", "seed = 12345678901234567890",
        "since = 2026-01-01T00:00:00.0000001Z", "a = ''", "'", "\"\\", "", "[a.b]\nc = inf\n"}) {
    EXPECT_EQ(with_short_numbers(text), text);
  }
}

}  // namespace
}  // namespace nustream::config
