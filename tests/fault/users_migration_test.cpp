// A stream that bounded what one record may do moves to limits of users, and from one kind of those to another. It is
// refused and left as it was, or both epochs are charged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <simdjson.h>

#include "users_world.h"

namespace nustream::tests {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<std::string> under_a_seed{"--insecure-seed", "7", "--quiet"};
/// A record takes part twice.
const std::vector<std::string> twice{"--passes", "2", "--set", "privacy.unit=\"record\""};

std::map<std::string, std::string> files_of(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file()) files[entry.path().filename()] = read_file(entry.path());
  }
  return files;
}

/// ρ of the epoch that ran last, and of all epochs together.
struct Spent {
  double epoch;
  double all;
};
Spent run_and_charge(const UsersWorld& world, const std::vector<std::string>& more) {
  const CommandResult run = world.run(with({"--insecure-seed", "7", "--json"}, more));
  EXPECT_EQ(run.code, 0) << run.err;
  simdjson::dom::parser parser;
  const auto report = parser.parse(run.out);
  return {report["rho"].get_double().value(), report["ledger_rho"].get_double().value()};
}

// What several passes cost a record says nothing about a user with many records, whatever [users] allows now.
TEST(RecordsThatMoveToUsers, AreRefusedAndLeftAsTheyWere) {
  const UsersWorld world;
  ASSERT_EQ(world.run(with(with(under_a_seed, twice), {"--to", "1000"})).code, 0);
  const auto before = files_of(world.path("state"));
  const CommandResult users = world.run(with(under_a_seed, {"--new-epoch"}));
  EXPECT_EQ(users.code, 78) << users.err;
  EXPECT_THAT(users.err, AllOf(HasSubstr("promised something about records"), HasSubstr("--set state.directory=")));
  EXPECT_EQ(world.run(with(under_a_seed, {"--resume"})).code, 65) << "of other settings";
  EXPECT_TRUE(files_of(world.path("state")) == before) << "a refusal changed the folder";
  const CommandResult kept = world.run(with(with(under_a_seed, twice), {"--to", "1000", "--resume"}));
  EXPECT_EQ(kept.code, 0) << kept.err;
}

// In another folder, users begin with nothing used up, and are charged for that stream alone.
TEST(RecordsThatMoveToUsers, BeginInAFolderOfTheirOwn) {
  const UsersWorld world;
  ASSERT_EQ(world.run(with(with(under_a_seed, twice), {"--to", "1000"})).code, 0);
  ASSERT_EQ(world.run(under_a_seed, "moved").code, 0);
  ASSERT_EQ(world.run(under_a_seed, "fresh").code, 0);
  EXPECT_EQ(world.releases("moved"), world.releases("fresh"));
  EXPECT_THAT(read_file(world.path("moved/ledger")),
              AllOf(HasSubstr(R"("protects":"user")"), Not(HasSubstr(R"("protects":"record")"))));
}

// More contributions of the same kind are allowed: nobody counts anew, and the charge is for one user who spreads the
// larger k.
TEST(LimitsThatChange, OfOneKindCarryCountsOver) {
  const UsersWorld world(2000, 40, "participations = 2\nseparation = 2\n");
  const Spent first = run_and_charge(world, {"--to", "1000"});
  const Spent second = run_and_charge(world, {"--new-epoch", "--set", "users.participations=3"});
  EXPECT_THAT(read_file(world.path("state/ledger")), HasSubstr(R"("participations":3,"separation":2,"counts":true)"));
  EXPECT_GE(second.all, std::max(first.all, second.epoch) * (1 - 1e-9));
  EXPECT_LT(second.all, .95 * (first.all + second.epoch));
}

// A count says nothing about a mass: everybody begins anew, and the epochs add up.
TEST(LimitsThatChange, OfAnotherKindAddUp) {
  const UsersWorld world;
  const Spent first = run_and_charge(world, {"--to", "1000"});
  world.write("mass.toml", [&] {
    std::string text = read_file(world.config());
    const std::string counts = "participations = 3\nseparation = 2\n";
    return text.replace(text.find(counts), counts.size(), "mass = 3\n");
  }());
  std::vector<std::string> arguments = world.replay({"--insecure-seed", "7", "--json", "--new-epoch"});
  arguments[1] = world.path("mass.toml");
  const CommandResult run = run_command(NUSTREAM_COMMAND, arguments);
  ASSERT_EQ(run.code, 0) << run.err;
  simdjson::dom::parser parser;
  const auto report = parser.parse(run.out);
  EXPECT_THAT(read_file(world.path("state/ledger")), HasSubstr(R"("mass":3,"counts":false)"));
  EXPECT_NEAR(report["ledger_rho"].get_double().value(), first.all + report["rho"].get_double().value(), 1e-9);
}

}  // namespace
}  // namespace nustream::tests
