// What is charged for epochs of which only a witness is left.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/spent.h"
#include "expect_failure.h"
#include "folder_and_witness.h"

namespace nustream::tests {
namespace {

// An epoch may have gone on behind its witness, so it is charged all that it can have spent.
TEST_F(AFolderAndItsWitness, TellsWhatALostLedgerSpent) {
  witness_of(3, account);
  hold(1);
  const auto owed = lost();
  ASSERT_EQ(owed.size(), 1U);
  EXPECT_EQ(owed[0].rho, Rho{0.25});
  EXPECT_EQ(owed[0].to, Position{300});
  EXPECT_EQ(owed[0].overlap, journal::Overlap::unknown);
  hold(3);
  EXPECT_TRUE(lost().empty());
}

// Behind its witness the epoch may have met a user as often as the limits allow. So every user is charged the limit,
// beside what the epochs before it cost.
TEST_F(AFolderAndItsWitness, ChargesEveryUserWhatALostEpochMayHaveSpent) {
  journal::LedgerEntry of_users = entry(0, 300);
  of_users.neighbours.of_user = true;
  of_users.user = journal::UserSpend{
      users::Limits(privacy::Participation{2, 50}, Mass{2}), false, {Rho{0}, Rho{0.0625}, Rho{0.125}}, Rho{0.125}};
  witness_of(3, of_users, account);
  hold(1);
  const auto owed = lost();
  ASSERT_EQ(owed.size(), 1U);
  EXPECT_EQ(owed[0].rho, Rho{0.25});
  ASSERT_TRUE(owed[0].user);
  EXPECT_EQ(owed[0].user->by_count, std::vector<Rho>{Rho{0.25}});
  EXPECT_EQ(owed[0].user->of_mass, Rho{0.25});
  EXPECT_FALSE(owed[0].user->carries_over);
  EXPECT_EQ(engine::total_spent(owed, of_users.neighbours), Rho{0.25});
}

// A copy of the folder ran an epoch of the same number, whose line is this folder's own.
TEST_F(AFolderAndItsWitness, ChargesALostEpochBesideTheFoldersOwnOfThatNumber) {
  witness_of(3, account);
  const auto lost_beside = [&](journal::LedgerEntry own) {
    const std::string line = journal::ledger_line(own, journal::empty_ledger_head, keys_from(1));
    folder.write("state/ledger", line);
    return lost();
  };
  journal::LedgerEntry own = entry(0, 1000);
  own.rho = own.rho_limit = Rho{3};
  auto owed = lost_beside(own);
  ASSERT_EQ(owed.size(), 1U);
  EXPECT_EQ(owed[0].rho, Rho{3}) << "the same settings: one epoch, of which the dearer line counts";
  EXPECT_EQ(owed[0].steps, StepCount{1000});
  EXPECT_EQ(owed[0].to, Position{1000});
  own.settings_digest = std::string(64, 'e');
  owed = lost_beside(own);
  ASSERT_EQ(owed.size(), 1U);
  EXPECT_NEAR(owed[0].rho.value(), 3.25, 1e-12) << "other settings: two epochs of one number";
  EXPECT_EQ(owed[0].settings_digest, own.settings_digest) << "that of the releases which are here";
  own = owed[0];  // as it is written before the next epoch's line
  EXPECT_TRUE(lost_beside(own).empty()) << "it is charged once";
  own.run.clear();
  EXPECT_EQ(lost_beside(own).size(), 1U) << "a line that is as dear is no proof";
  own.neighbours.adjacency = privacy::Adjacency::replace_one;
  expect_failure(
      Exit::data, [&] { lost_beside(own); }, "two copies of this folder ran an epoch 0 each");
}

}  // namespace
}  // namespace nustream::tests
