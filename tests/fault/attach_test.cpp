// The attached service as a process on a real broker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <simdjson.h>

#include "attach_world.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

std::string folder_releases(const AttachWorld& world, const std::vector<std::string>& values) {
  std::string csv;
  for (const std::string& value : values) csv += value + "\n";
  const std::string file = world.folder().write("rows.csv", csv);
  const std::string state = (world.folder().path() / "replayed").string();
  const CommandResult result = run_command(NUSTREAM_COMMAND, {"replay", world.config(), file, "--insecure-seed", "7",
                                                              "--set", "state.directory=\"" + state + "\""});
  EXPECT_EQ(result.code, 0) << result.err;
  return read_file(std::filesystem::path(state) / "releases.jsonl");
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TEST(Attach, ReplaysABoundedTopicAsAFileWithTheSameRecords) {
  const AttachWorld world;
  const std::vector<std::string> values = AttachWorld::values(3000);
  world.write(values);
  const CommandResult result = world.run({"--until-end", "--insecure-seed", "7"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(joined(world.releases()) == folder_releases(world, values)) << result.err;
}

}  // namespace
}  // namespace nustream::tests
