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

/// Runs over the folder, whose ledger comes to `before` and then to `after`.
void run(const World& world, const folder::ShareOf& whose, double before, double after) {
  std::optional<Rho> budget{Rho{.75}};
  folder::AccountShare share(whose, budget);
  share.begin(Rho{before});
  world.spend("sales");
  share.settle(Rho{after});
}

/// Another account than the world's.
std::string other_account(const World& world) {
  std::string other = (world.folder.path() / "others").string();
  journal::create_account(*world.disk, other, Rho{1}, zero_out);
  return other;
}

// The first account would not count what the folder spends from then on, and going back would charge it twice.
TEST(AccountShare, IsNotLeftForAnotherAccount) {
  const World world;
  run(world, world.of("sales"), 0, .25);
  folder::ShareOf elsewhere = world.of("sales");
  elsewhere.account = other_account(world);
  expect_failure(
      Exit::configuration, [&] { run(world, elsewhere, .25, .5); }, "is counted in the account " + world.account);
  EXPECT_EQ(journal::read_account(*world.disk, elsewhere.account).total().value(), 0);
  elsewhere.account += "-mistyped";
  expect_failure(
      Exit::configuration, [&] { run(world, elsewhere, .25, .5); }, "is counted in the account " + world.account);
  run(world, world.of("sales"), .25, .5);
  EXPECT_EQ(world.total(), .5) << "as if nothing had been tried";
}

// What the message names as the way on: what was spent is charged in both.
TEST(AccountShare, IsChargedInBothAccountsWhereItWasMadeToGoOnInAnother) {
  const World world;
  run(world, world.of("sales"), 0, .25);
  folder::ShareOf elsewhere = world.of("sales");
  elsewhere.account = other_account(world);
  std::filesystem::remove(world.folder.path() / "sales" / "account-member");
  run(world, elsewhere, .25, .5);
  EXPECT_EQ(world.total(), .25);
  EXPECT_EQ(journal::read_account(*world.disk, elsewhere.account).total().value(), .5);
  expect_failure(
      Exit::configuration, [&] { run(world, world.of("sales"), .5, .75); },
      "is counted in the account " + elsewhere.account);
}

TEST(AccountShare, KnowsItsFoldersWhereTheAccountWasMoved) {
  const World world;
  run(world, world.of("sales"), 0, .25);
  folder::ShareOf moved = world.of("sales");
  moved.account = (world.folder.path() / "moved").string();
  std::filesystem::copy_file(world.account, moved.account);
  expect_failure(
      Exit::configuration, [&] { run(world, moved, .25, .5); }, "is counted in the account " + world.account);
  std::filesystem::remove(world.account);
  run(world, moved, .25, .5);
  EXPECT_EQ(journal::read_account(*world.disk, moved.account).total().value(), .5) << "not charged twice";
  // Back again, while a new account is where the moved one was.
  std::filesystem::rename(moved.account, world.account);
  journal::create_account(*world.disk, moved.account, Rho{1}, zero_out);
  run(world, world.of("sales"), .5, .625);
  EXPECT_EQ(world.total(), .625);
}

// A new account in the place of the old one would not know what the other folders have spent.
TEST(AccountShare, RefusesAnAccountThatWasReplaced) {
  const World world;
  run(world, world.of("sales"), 0, .25);
  std::filesystem::remove(world.account);
  journal::create_account(*world.disk, world.account, Rho{1}, zero_out);
  expect_failure(
      Exit::configuration, [&] { run(world, world.of("sales"), .25, .5); }, "the account knows nothing of ");
  EXPECT_EQ(world.total(), 0);
  // The way on that the message names.
  std::filesystem::remove(world.folder.path() / "sales" / "account-member");
  run(world, world.of("sales"), .25, .5);
  EXPECT_EQ(world.total(), .5);
}

// A damaged file does not tell which account the folder was charged to; another one would not go on counting.
TEST(AccountShare, RefusesAFolderWhoseFileIsDamaged) {
  const World world;
  run(world, world.of("sales"), 0, .25);
  for (const char* text : {"0123456789abcdef", "00000000000000000000000000000000\n/a/path"}) {
    static_cast<void>(world.folder.write("sales/account-member", text));
    expect_failure(
        Exit::data, [&] { run(world, world.of("sales"), .25, .5); }, "account-member: is damaged");
    EXPECT_EQ(world.total(), .25);
  }
}

}  // namespace
}  // namespace nustream::tests
