// The witness of a state folder: its bytes, who can write them, and when they are written.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "expect_failure.h"
#include "journal/witness.h"
#include "journal/witness_keeper.h"
#include "keys_from.h"
#include "temporary_folder.h"
#include "witness_example.h"

namespace nustream::tests {
namespace {

namespace fs = std::filesystem;

// tests/golden/witness_twin.py wrote these bytes, in Python and after docs/formats/witness.md.
TEST(Witness, HasTheBytesOfItsPage) {
  const std::string golden = read_file(fs::path(NUSTREAM_TESTS_DIR) / "golden/data/witness.bin");
  ASSERT_FALSE(golden.empty());
  EXPECT_TRUE(journal::encode_witness(example(), keys_from(1)) == golden);
}

TEST(Witness, ReadsBackWhatItWrote) {
  const journal::ReadWitness read =
      journal::read_witness(journal::encode_witness(example(), keys_from(1)), keys_from(1));
  EXPECT_TRUE(read.is_authentic);
  const journal::Witness& witness = read.witness;
  EXPECT_EQ(witness.account, example().account);
  EXPECT_EQ(witness.stream, "mine");
  EXPECT_EQ(witness.lane, LaneId{3});
  EXPECT_EQ(witness.folder, "/data/mine");
  EXPECT_EQ(witness.epoch, EpochId{2});
  EXPECT_EQ(witness.steps, StepCount{1000});
  EXPECT_EQ(witness.ledger_head, example().ledger_head);
  ASSERT_EQ(witness.epochs.size(), 2U);
  EXPECT_EQ(witness.epochs[1].steps, StepCount{1000});
  EXPECT_EQ(witness.epochs[0].rho_limit, Rho{0.25});
  const journal::Witness claimed = journal::claims_of(journal::encode_witness(example(), keys_from(2)));
  EXPECT_EQ(claimed.account, example().account);
  EXPECT_EQ(claimed.folder, "/data/mine");
  EXPECT_EQ(claimed.steps, StepCount{1000});
  EXPECT_TRUE(claimed.epochs.empty()) << "nobody vouches for them";
}

// Every byte is under the MAC, and nobody can make a MAC without the key.
TEST(Witness, IsBelievedUnderItsKeyAlone) {
  const std::string bytes = journal::encode_witness(example(), keys_from(1));
  EXPECT_EQ(journal::kind_of_witness(bytes, keys_from(1)), journal::WitnessKind::ours);
  EXPECT_EQ(journal::kind_of_witness(bytes, keys_from(2)), journal::WitnessKind::under_another_key);
  EXPECT_EQ(journal::kind_of_witness("NUWITNS", keys_from(1)), journal::WitnessKind::malformed);
  EXPECT_FALSE(journal::read_witness(bytes, keys_from(2)).is_authentic);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int bit : {0, 7}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      try {
        EXPECT_FALSE(journal::read_witness(changed, keys_from(1)).is_authentic) << at;
      } catch (const Failure& failure) {
        EXPECT_EQ(failure.code(), Exit::data);
      }
    }
  }
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    expect_failure(Exit::data,
                   [&] { static_cast<void>(journal::read_witness(bytes.substr(0, length), keys_from(1))); });
  }
}

class KeptWitness : public ::testing::Test {
 protected:
  [[nodiscard]] fs::path file() const { return folder.path() / "mine.witness"; }
  [[nodiscard]] std::uint64_t told() const {
    return journal::read_witness(read_file(file()), keys_from(1)).witness.steps.value();
  }
  const TemporaryFolder folder;
};

// The first commit is told at once, later ones as soon as the interval is over, and the last one by flush().
TEST_F(KeptWitness, IsWrittenOnceAnInterval) {
  journal::WitnessKeeper keeper(file(), "", keys_from(1), std::chrono::hours(1));
  keeper.committed(example(1));
  while (!fs::exists(file())) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(told(), 1U);
  for (std::uint64_t steps = 2; steps <= 1000; ++steps) keeper.committed(example(steps));
  EXPECT_EQ(told(), 1U) << "an hour has not passed";
  keeper.flush();
  EXPECT_EQ(told(), 1000U);
  EXPECT_EQ(keeper.take_failure(), nullptr);
  EXPECT_EQ(fs::status(file()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(KeptWitness, IsNotLeftBehindByARunThatEndsWithoutFlush) {
  { journal::WitnessKeeper(file(), "", keys_from(1), std::chrono::hours(1)).committed(example(6)); }
  EXPECT_EQ(told(), 6U);
  {
    journal::WitnessKeeper keeper(file(), read_file(file()), keys_from(1), std::chrono::hours(1));
    keeper.committed(example(6));
    keeper.flush();
    keeper.committed(example(7));  // this commit is an hour before its turn
  }
  EXPECT_EQ(told(), 7U);
  {
    journal::WitnessKeeper keeper(file(), read_file(file()), keys_from(1), std::chrono::milliseconds(1));
    keeper.committed(example(8));
    while (told() != 8) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // it is told without flush()
  }
}

TEST_F(KeptWitness, OfTwoRunsAtOnceEndsTheOneThatSeesIt) {
  journal::WitnessKeeper one(file(), "", keys_from(1), std::chrono::milliseconds(0));
  one.committed(example(10));
  one.flush();
  journal::WitnessKeeper other(file(), read_file(file()), keys_from(1), std::chrono::milliseconds(0));
  other.committed(example(11));
  other.flush();
  EXPECT_EQ(other.take_failure(), nullptr);
  one.committed(example(20));
  one.flush();
  const std::exception_ptr failure = one.take_failure();
  ASSERT_NE(failure, nullptr);
  expect_failure(
      Exit::data, [&] { std::rethrow_exception(failure); }, "a copy of this state folder runs too");
  EXPECT_EQ(told(), 11U) << "nothing is written over";
  one.committed(example(30));
  one.flush();
  EXPECT_EQ(told(), 11U);
}

TEST_F(KeptWitness, ThatCannotBeWrittenIsTold) {
  journal::WitnessKeeper keeper(folder.path() / "missing" / "mine.witness", "", keys_from(1));
  keeper.committed(example());
  keeper.flush();
  const std::exception_ptr failure = keeper.take_failure();
  ASSERT_NE(failure, nullptr);
  expect_failure(
      Exit::io, [&] { std::rethrow_exception(failure); }, "missing");
}

// The disk is full for a while: what waits is written once there is room.
TEST_F(KeptWitness, IsTriedAgain) {
  const fs::path place = folder.path() / "later";
  journal::WitnessKeeper keeper(place / "mine.witness", "", keys_from(1), std::chrono::milliseconds(1));
  keeper.committed(example(11));
  keeper.flush();
  EXPECT_NE(keeper.take_failure(), nullptr);
  fs::create_directory(place);
  fs::permissions(place, fs::perms::owner_all);
  keeper.flush();
  keeper.flush();
  EXPECT_EQ(keeper.take_failure(), nullptr);
  EXPECT_EQ(journal::read_witness(read_file(place / "mine.witness"), keys_from(1)).witness.steps, StepCount{11});
}

}  // namespace
}  // namespace nustream::tests
