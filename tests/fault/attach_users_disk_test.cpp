// The attached service with the table of users on disk: the releases are those of the table in memory, and the next
// owner of a lane needs nothing of the folder of the one before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "attach_users_world.h"

namespace nustream::tests {
namespace {

namespace fs = std::filesystem;

/// A folder for each instance, beside the settings.
class UsersOnInstancesDisks : public AttachUsersWorld {
 public:
  using AttachUsersWorld::AttachUsersWorld;

  [[nodiscard]] fs::path folder(const std::string& instance) const {
    return fs::path(config()).parent_path() / instance;
  }
  [[nodiscard]] std::vector<std::string> on_disk(const std::string& instance,
                                                 const std::vector<std::string>& more) const {
    std::vector<std::string> settings{"--set", "users.store=\"disk\"", "--set",
                                      "state.directory=\"" + folder(instance).string() + "\""};
    settings.insert(settings.end(), more.begin(), more.end());
    return settings;
  }
};

const std::vector<std::string> seeded_on_disk{"--until-end", "--insecure-seed", "7"};

TEST(AttachUsersOnDisk, CountOnWhereTheyWereStoppedOnAnyInstance) {
  const UsersOnInstancesDisks world;
  const std::vector<std::string> values = AttachUsersWorld::values_of_users(2000);
  struct Part {
    std::size_t end;
    const char* instance;
  };
  for (const Part part :
       {Part{400, "one"}, Part{900, "two"}, Part{905, "one"}, Part{1200, "memory"}, Part{2000, "two"}}) {
    const std::size_t begin = ledger_end(world).to;
    world.write({values.begin() + static_cast<std::ptrdiff_t>(begin),
                 values.begin() + static_cast<std::ptrdiff_t>(part.end)});
    const bool in_memory = std::string(part.instance) == "memory";
    const CommandResult run = world.run(in_memory ? seeded_on_disk : world.on_disk(part.instance, seeded_on_disk));
    ASSERT_EQ(run.code, 0) << run.err;
  }
  EXPECT_TRUE(fs::exists(world.folder("one") / "users-0.table"));
  EXPECT_FALSE(fs::exists(world.folder("memory")));
  EXPECT_GE(expect_same_estimates(world.releases(), replayed(world, values, 7)), 40U);
  expect_one_value_a_step(world.releases_uncommitted());
}

// One contribution a user, and hardly any noise: whoever counts moves the estimate.
TEST(AttachUsersOnDisk, TakeTheirCountsToTheLanesOfAnotherNumberOfPartitions) {
  const UsersOnInstancesDisks world(2, "@key");
  const std::vector<std::string> a_contribution_each =
      world.on_disk("one", {"--until-end", "--set", "users.participations=1", "--set", "privacy.rho=1e10", "--set",
                            "release.every=1", "--set", "descent.step_size=0.05"});
  world.write_keyed(AttachUsersWorld::values_of_users(1200));
  const CommandResult first = world.run(a_contribution_each);
  ASSERT_EQ(first.code, 0) << first.err;
  const std::size_t before = world.releases(0).size();
  world.add_partitions_to_all(3);
  world.write_among(AttachUsersWorld::values_of_users(600, 2), 3);
  std::vector<std::string> renewed = a_contribution_each;
  renewed.emplace_back("--new-epoch");
  const CommandResult second = world.run(renewed);
  ASSERT_EQ(second.code, 0) << second.err;
  simdjson::dom::parser parser;
  const std::vector<std::string> releases = world.releases(0);
  ASSERT_GT(releases.size(), before + 10);
  const double last = parser.parse(releases[before - 1])["estimate"]["x"].get_double().value();
  EXPECT_GT(std::abs(last), 1e-2);
  for (std::size_t i = before; i < releases.size(); ++i) {
    EXPECT_NEAR(parser.parse(releases[i])["estimate"]["x"].get_double().value(), last, 1e-4);
  }
}

}  // namespace
}  // namespace nustream::tests
