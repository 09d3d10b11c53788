// Commands meet folders and files that somebody else could write to.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "command.h"
#include "expect_failure.h"
#include "replay_world.h"

namespace nustream::tests {
namespace {

namespace fs = std::filesystem;

class Trusted : public ::testing::Test {
 protected:
  void expect_refused(const std::vector<std::string>& arguments, const std::string& part) const {
    const CommandResult result = run_command(NUSTREAM_COMMAND, arguments);
    EXPECT_EQ(result.code, 77) << result.err;
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
    EXPECT_NE(result.err.find(world.path("state")), std::string::npos) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
  /// Expects the refusal by each command that goes by the folder.
  void expect_all_refused(const std::string& part) const {
    for (const char* start : {"--resume", "--new-epoch"}) expect_refused(world.replay({"--quiet", start}), part);
    expect_refused({"inspect", world.path("state")}, part);
    expect_refused({"key", "rotate", world.path("state"), world.path("new.key")}, part);
  }
  void begin() const {
    ASSERT_EQ(world.run({"--quiet", "--to", "500"}).code, 0);
    ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"key", "new", world.path("new.key")}).code, 0);
  }

  const ReplayWorld world;
};

TEST_F(Trusted, IsNoFolderThatOthersWriteTo) {
  begin();
  const std::string releases = world.releases();
  for (const mode_t mode : {0770U, 0707U, 01777U}) {
    ASSERT_EQ(::chmod(world.path("state").c_str(), mode), 0);
    expect_all_refused("writable by others");
  }
  EXPECT_EQ(world.releases(), releases);
  ASSERT_EQ(::chmod(world.path("state").c_str(), 0755), 0);
  EXPECT_EQ(world.run({"--quiet", "--resume"}).code, 0);
}

TEST_F(Trusted, IsNoNewFolderThatOthersWriteTo) {
  fs::create_directory(world.path("state"));
  ASSERT_EQ(::chmod(world.path("state").c_str(), 0777), 0);
  expect_refused(world.replay({"--quiet"}), "writable by others");
  EXPECT_TRUE(fs::is_empty(world.path("state")));
}

TEST_F(Trusted, IsNoFileThatOthersWriteTo) {
  begin();
  for (const char* name : {"state", "ledger", "releases.jsonl"}) {
    const std::string file = world.path(std::string("state/") + name);
    ASSERT_EQ(::chmod(file.c_str(), 0622), 0);
    expect_refused(world.replay({"--quiet", "--resume"}), "writable by others");
    expect_refused({"inspect", world.path("state")}, "writable by others");
    ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  }
  EXPECT_EQ(world.run({"--quiet", "--resume"}).code, 0);
}

// The link is followed, and the folder that it leads to is judged.
TEST_F(Trusted, IsWhatALinkedFolderLeadsTo) {
  begin();
  fs::rename(world.path("state"), world.path("real"));
  fs::create_directory_symlink(world.path("real"), world.path("state"));
  EXPECT_EQ(world.run({"--quiet", "--resume", "--to", "1000"}).code, 0);
  ASSERT_EQ(::chmod(world.path("real").c_str(), 0777), 0);
  expect_all_refused("writable by others");
}

TEST_F(Trusted, IsNoFolderOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  begin();
  ASSERT_EQ(::chown(world.path("state").c_str(), 12345, 0), 0);
  expect_all_refused("another user");
  ASSERT_EQ(::chown(world.path("state").c_str(), 0, 0), 0);
  ASSERT_EQ(::chown(world.path("state/state").c_str(), 12345, 0), 0);
  expect_refused(world.replay({"--quiet", "--resume"}), "another user");
}

}  // namespace
}  // namespace nustream::tests
