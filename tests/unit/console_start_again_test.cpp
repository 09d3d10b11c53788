// What is said to a process that starts again, and what is not said a second time.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "console/signals.h"

namespace nustream::tests {
namespace {

TEST(StartAgain, LeavesOutWhatIsSaidOnceForAll) {
  const std::array<console::OnceOption, 2> once{{{"--write-config", true}, {"--accept-gap", false}}};
  using Arguments = std::vector<std::string>;
  EXPECT_EQ(console::without({"nustream", "attach", "mine.toml", "--write-config", "used.toml", "--new-epoch",
                              "--accept-gap", "-b", "localhost:9092"},
                             once),
            (Arguments{"nustream", "attach", "mine.toml", "--new-epoch", "-b", "localhost:9092"}));
  EXPECT_EQ(
      console::without({"nustream", "attach", "--write-config=--accept-gap", "--accept-gap=true", "mine.toml"}, once),
      (Arguments{"nustream", "attach", "mine.toml"}));
  EXPECT_EQ(console::without({"nustream", "attach", "--write-config", "--accept-gap", "mine.toml"}, once),
            (Arguments{"nustream", "attach", "mine.toml"}));
  const Arguments others{"nustream", "attach", "--write-configs", "", "--accept", "mine.toml"};
  EXPECT_EQ(console::without(others, once), others);
}

}  // namespace
}  // namespace nustream::tests
