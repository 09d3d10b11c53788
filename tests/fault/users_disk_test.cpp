// `nustream replay` with the table of users on disk: the releases are those of the table in memory, to the byte,
// whatever becomes of the table's folder between two runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "users_windows_world.h"

namespace nustream::tests {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<std::string> on_disk{"--insecure-seed", "7", "--quiet", "--set", "users.store=disk"};
const std::vector<std::string> in_memory{"--insecure-seed", "7", "--quiet"};
const std::string table = "/users-0.table";

void expect_done(const CommandResult& result) {
  ASSERT_EQ(result.code, 0) << result.err;
}

/// One run in memory and one on disk release the same.
void expect_same(const UsersWorld& world, const std::vector<std::string>& settings) {
  expect_done(world.run(with(in_memory, settings), "memory"));
  expect_done(world.run(with(on_disk, settings), "disk"));
  EXPECT_TRUE(fs::exists(world.path("disk" + table)));
  EXPECT_FALSE(fs::exists(world.path("memory" + table)));
  EXPECT_NE(world.releases("memory"), "");
  EXPECT_EQ(world.releases("memory"), world.releases("disk"));
}

TEST(UsersOnDisk, ReleaseWhatUsersInMemoryDo) {
  expect_same(UsersWorld(), {});
}

TEST(UsersOnDisk, ReleaseTheSameUnderMass) {
  expect_same(UsersWorld(2000, 40, "mass = 2.5\n"), {});
}

TEST(UsersOnDisk, ReleaseTheSameWithinWindows) {
  expect_same(UsersWindowsWorld(), UsersWindowsWorld::within_a_day());
}

/// A run to each of these records, and one to the end; `between(record)` is called before each but the first.
template <class Between>
std::string in_parts(const UsersWorld& world, const Between& between) {
  for (const char* to : {"400", "1000", "1140", "2000"}) {
    std::vector<std::string> settings = with(on_disk, {"--to", to});
    if (std::string(to) != "400") {
      between(std::string(to), settings);
      settings.emplace_back("--resume");
    }
    expect_done(world.run(settings));
  }
  return world.releases();
}

/// The estimates of an uninterrupted run: the last release of a run that was stopped carries another tag.
std::vector<double> whole(const UsersWorld& world) {
  expect_done(world.run(in_memory, "whole"));
  return slopes_of(world.releases("whole"));
}

TEST(UsersOnDisk, GoOnInEitherStore) {
  const UsersWorld world;
  const std::string parts = in_parts(world, [](const std::string& to, std::vector<std::string>& settings) {
    if (to == "1000") settings = with(in_memory, {"--to", to});
  });
  EXPECT_EQ(slopes_of(parts), whole(world));
}

// An older table catches up with the store; one that was damaged, changed or lost is made anew from it.
TEST(UsersOnDisk, GoOnWhateverBecameOfTheTable) {
  const UsersWorld world;
  const std::string parts = in_parts(world, [&](const std::string& to, std::vector<std::string>&) {
    const fs::path folder = world.path("state" + table);
    ASSERT_TRUE(fs::exists(folder));
    if (to == "1000") {
      fs::copy(folder, world.path("older"), fs::copy_options::recursive);
    } else if (to == "1140") {
      fs::remove_all(folder);
      fs::copy(world.path("older"), folder, fs::copy_options::recursive);
    } else {
      for (const auto& file : fs::directory_iterator(folder)) std::ofstream(file.path(), std::ios::app) << "more";
      for (const auto& file : fs::directory_iterator(folder)) {
        if (file.path().extension() == ".sst") fs::resize_file(file.path(), fs::file_size(file.path()) / 2);
      }
    }
  });
  EXPECT_EQ(slopes_of(parts), whole(world));
}

// The table is a cache: without its store nobody knows what it is worth.
TEST(UsersOnDisk, RefuseAStoreThatIsLostThoughTheTableIsThere) {
  const UsersWorld world;
  expect_done(world.run(with(on_disk, {"--to", "400"})));
  fs::remove(world.path("state/users-0.log"));
  const CommandResult again = world.run(with(on_disk, {"--resume"}));
  EXPECT_EQ(again.code, 65) << again.err;
  EXPECT_THAT(again.err, HasSubstr("the store of users"));
}

TEST(UsersOnDisk, CountOnInANewEpochAsInMemory) {
  const UsersWorld world;
  for (const auto& [store, state] : {std::pair(in_memory, "memory"), std::pair(on_disk, "disk")}) {
    expect_done(world.run(with(store, {"--to", "1000"}), state));
    expect_done(world.run(with(store, {"--new-epoch", "--set", "users.participations=4"}), state));
  }
  EXPECT_EQ(slopes_of(world.releases("memory")), slopes_of(world.releases("disk")));
}

TEST(UsersOnDisk, AreCountedClosedAndEndedAsInMemory) {
  const UsersWorld world;
  expect_done(world.run(with(on_disk, {"--to", "400"})));
  expect_done(world.run(with(in_memory, {"--to", "400"}), "memory"));
  const auto command = [&](std::vector<std::string> arguments, const std::string& state) {
    const std::string folder = "state.directory=\"" + world.path(state) + "\"";
    const std::string lines = world.write("identifiers", "5\n6\nnobody yet\n");
    arguments = with(arguments, {"--insecure-seed", "7"});
    if (arguments[0] == "users") arguments = with(arguments, {"--set", folder});
    if (arguments[0] == "users" && state == "state") arguments = with(arguments, {"--set", "users.store=disk"});
    const CommandResult result = run_command(NUSTREAM_COMMAND, arguments, lines);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  };
  std::string seen[2];
  for (const std::string state : {"state", "memory"}) {
    command({"users", "close", world.config()}, state);
    const std::string text = command({"inspect", world.path(state), "--users", "--json"}, state);
    seen[state == "state" ? 0 : 1] = text.substr(text.find("\"users\":"));
  }
  EXPECT_THAT(seen[0], HasSubstr("entries"));
  EXPECT_EQ(seen[0], seen[1]);
  command({"users", "end", world.config()}, "state");
  EXPECT_FALSE(fs::exists(world.path("state" + table)));
}

TEST(UsersOnDisk, AreOfStreamsAlone) {
  const UsersWorld world;
  const CommandResult run = world.run(with(in_memory, {"--set", "users.store=paper"}));
  EXPECT_EQ(run.code, 78) << run.err;
  EXPECT_THAT(run.err, HasSubstr("users.store"));
  const CommandResult checked =
      run_command(NUSTREAM_COMMAND, {"check", world.config(), "--set", "users.store=disk", "--set",
                                     "state.directory=\"" + world.path("state") + "\""});
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("users-0.table"));
}

}  // namespace
}  // namespace nustream::tests
