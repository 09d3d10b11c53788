// A folder's part of an account: who may take it, what it is charged from its beginning to its end, and what is said
// where the folder and the account do not agree.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "expect_failure.h"
#include "folder/account_share.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

constexpr privacy::Neighbours zero_out{privacy::Adjacency::zero_out, false};

struct World {
  TemporaryFolder folder;
  std::unique_ptr<journal::Disk> disk = journal::posix_disk();
  std::string account = (folder.path() / "people").string();

  explicit World(double budget = 1) { journal::create_account(*disk, account, Rho{budget}, zero_out); }
  [[nodiscard]] folder::ShareOf of(const std::string& name) const {
    return {account, folder.path() / name, name, LaneId{0}, zero_out, true, "settings.toml"};
  }
  [[nodiscard]] double total() const { return journal::read_account(*disk, account).total().value(); }
  /// Leaves in the folder what a run that has spent leaves there.
  void spend(const std::string& name) const { static_cast<void>(folder.write(name + "/state", "sealed")); }
};

// Otherwise a run that came second and was told to end would give back what the first run goes on to spend.
TEST(AccountShare, IsTakenByOneRunAtATime) {
  const World world;
  std::optional<Rho> budget{Rho{.5}};
  folder::AccountShare first(world.of("sales"), budget);
  std::optional<Rho> second{Rho{.5}};
  expect_failure(
      Exit::locked, [&] { const folder::AccountShare share(world.of("sales"), second); }, "is in use by another run");
  EXPECT_EQ(world.total(), .5);
  first.begin(Rho{0});
  world.spend("sales");
  first.settle(Rho{.25});
  EXPECT_EQ(world.total(), .25);
}

TEST(AccountShare, GivesBackWhatARunThatNeverBeganHadTaken) {
  const World world;
  for (const double spent : {.25, .375}) {
    const double before = world.total();
    {
      std::optional<Rho> budget;
      const folder::AccountShare share(world.of("sales"), budget);
      EXPECT_EQ(budget, Rho{1});
      EXPECT_EQ(world.total(), 1);
    }
    EXPECT_EQ(world.total(), before);
    std::optional<Rho> budget;
    folder::AccountShare share(world.of("sales"), budget);
    share.begin(Rho{before});
    world.spend("sales");
    share.settle(Rho{spent});
  }
}

// As after a kill: the account does not know what the run has spent.
TEST(AccountShare, KeepsWhatARunMayHaveSpent) {
  const World world;
  {
    std::optional<Rho> budget{Rho{.5}};
    folder::AccountShare share(world.of("sales"), budget);
    share.begin(Rho{0});
    world.spend("sales");
  }
  EXPECT_EQ(world.total(), .5);
}

TEST(AccountShare, ChargesWhatTheFolderHadSpentBefore) {
  const World world;
  std::optional<Rho> budget{Rho{.25}};
  folder::AccountShare share(world.of("sales"), budget);
  share.begin(Rho{.5});
  EXPECT_EQ(world.total(), .5);
  share.settle(Rho{.5});
  EXPECT_EQ(world.total(), .5);
}

// Nothing more may be spent from then on, and what was spent is charged all the same.
TEST(AccountShare, ChargesWhatTheFolderHadSpentBeforeWhereTheAccountIsFull) {
  const World world;
  const journal::Member other{{1}, "other", LaneId{0}};
  journal::charge(*world.disk, world.account, other, [&](const auto&) {
    return journal::Charge{other, Rho{1}, true};
  });
  std::optional<Rho> budget;
  expect_failure(
      Exit::exhausted, [&] { const folder::AccountShare share(world.of("new"), budget); }, "nothing is left");
  std::filesystem::create_directory(world.folder.path() / "sales");
  std::filesystem::permissions(world.folder.path() / "sales", std::filesystem::perms::owner_all);
  world.spend("sales");
  folder::AccountShare share(world.of("sales"), budget);
  EXPECT_EQ(budget, Rho{0});
  share.begin(Rho{.5});
  EXPECT_EQ(world.total(), 1.5);
}

TEST(AccountShare, RefusesAnOlderCopyOfTheFolder) {
  const World world;
  const auto run = [&](double before, double after) {
    std::optional<Rho> budget{Rho{.75}};
    folder::AccountShare share(world.of("sales"), budget);
    share.begin(Rho{before});
    world.spend("sales");
    share.settle(Rho{after});
  };
  run(0, .5);
  expect_failure(
      Exit::data, [&] { run(.25, .375); }, "older copy of the folder lacks what was spent since");
  EXPECT_EQ(world.total(), .5);
  run(.5 * (1 - 1e-14), .625);  // the same spends, added up in another order
  EXPECT_EQ(world.total(), .625);
}

TEST(AccountShare, IsNamedByWhoeverWasChargedBefore) {
  const World world;
  std::optional<Rho> budget;
  { const folder::AccountShare share(world.of("sales"), budget); }
  folder::ShareOf none = world.of("sales");
  none.account.clear();
  expect_failure(
      Exit::configuration, [&] { const folder::AccountShare share(none, budget); },
      "is counted in the account " + world.account);
  none.folder = world.folder.path() / "visits";
  folder::AccountShare share(none, budget);
  { const folder::AccountShare meanwhile(world.of("visits"), budget); }
  expect_failure(
      Exit::configuration, [&] { share.begin(Rho{0}); }, "privacy.account");
  std::filesystem::remove(world.folder.path() / "visits" / "account-member");
  share.begin(Rho{0});
}

}  // namespace
}  // namespace nustream::tests
