// Rotation: the same state under another key, a ledger for which the new key vouches, and no crash that loses both
// keys' states.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "expect_failure.h"
#include "journal/ledger_chain.h"
#include "journal/outbox_folder.h"
#include "journal/rotate_key.h"
#include "simulated_disk.h"
#include "toy_lane.h"

namespace nustream::tests {
namespace {

const journal::Disk::Path folder = "/run";

std::string value_of(std::uint64_t step) {
  return std::to_string(step);
}

secrets::Keyring key(std::uint8_t first) {
  return secrets::Keyring::from_master(noise::KeyBytes{first});
}

/// Commits some batches under `keys`, from wherever the folder stands.
void run_batches(SimulatedDisk& disk, const secrets::Keyring& keys, int batches) {
  journal::OutboxFolder files(disk, {.folder = folder, .is_private = true, .rejects = true});
  ToyLane lane(keys, "toy");
  if (const auto sealed = files.load()) files.recover(lane.restore(*sealed));
  for (int i = 0; i < batches; ++i) files.commit(lane.batch(2, files.bookmark(), value_of));
}

TEST(RotateKey, GoesOnUnderTheNewKeyAlone) {
  SimulatedDisk disk(1);
  run_batches(disk, key(1), 3);
  const std::string old_state = disk.seen(folder / "state");
  const std::string releases = disk.seen(folder / "releases.jsonl");
  journal::rotate_key(disk, folder, key(1), key(2));
  EXPECT_EQ(disk.durable(folder / "releases.jsonl"), releases);
  expect_failure(Exit::permission, [&] { run_batches(disk, key(1), 1); });
  run_batches(disk, key(2), 1);
  const auto ledger = journal::read_ledger(disk, folder, key(2));
  ASSERT_EQ(ledger.epochs.size(), 1U);
  EXPECT_EQ(ledger.epochs[0].steps, StepCount{8});
  const std::string longer = disk.seen(folder / "releases.jsonl");
  EXPECT_EQ(longer.substr(0, releases.size()), releases);
  EXPECT_EQ(std::count(longer.begin(), longer.end(), '\n'), 8);
  // The state from before the rotation, put back with the old key, is a rolled-back one.
  disk.tamper(folder / "state", old_state);
  expect_failure(Exit::data, [&] { run_batches(disk, key(1), 1); });
}

TEST(RotateKey, KeepsWhatTheStateHolds) {
  SimulatedDisk disk(1);
  run_batches(disk, key(1), 2);
  const auto before = journal::open_state(key(1), disk.seen(folder / "state"));
  journal::rotate_key(disk, folder, key(1), key(2));
  const auto after = journal::open_state(key(2), disk.seen(folder / "state"));
  EXPECT_EQ(after.identity.steps, before.identity.steps);
  EXPECT_EQ(after.record.position, before.record.position);
  EXPECT_EQ(after.record.lane, before.record.lane);
  EXPECT_EQ(after.record.noise.stages.at(0).segments.at(0).chain_key,
            before.record.noise.stages.at(0).segments.at(0).chain_key);
  EXPECT_EQ(after.record.noise.stages.at(0).memory, before.record.noise.stages.at(0).memory);
}

TEST(RotateKey, RefusesWhatIsNoRotation) {
  SimulatedDisk disk(1);
  const auto seed = secrets::Keyring::insecure(1);
  expect_failure(
      Exit::data, [&] { journal::rotate_key(disk, folder, key(1), key(2)); }, "no state");
  run_batches(disk, key(1), 1);
  expect_failure(Exit::permission, [&] { journal::rotate_key(disk, folder, key(2), key(3)); });
  expect_failure(Exit::permission, [&] { journal::rotate_key(disk, folder, key(1), key(1)); });
  expect_failure(Exit::permission, [&] { journal::rotate_key(disk, folder, key(1), seed); });
  expect_failure(Exit::permission, [&] { journal::rotate_key(disk, folder, seed, key(1)); });
  EXPECT_NO_THROW(run_batches(disk, key(1), 1));
}

// The old key signs nothing that was taken later: of a ledger that reserves it says where it was handed on.
TEST(RotateKey, SaysWhatWasTakenBeforeItHandsOn) {
  const journal::LedgerEntry taken{
      "toy",     LaneId{0}, EpochId{0},           Position{0}, Position{9}, StepCount{9},
      Rho{0.25}, Rho{0.5},  std::string(64, 'a'), {},          true,        journal::Overlap::disjoint};
  journal::LedgerEntry reserving = taken;
  reserving.steps = StepCount{16};
  reserving.taken = StepCount{8};
  const std::string before = journal::ledger_line(reserving, journal::empty_ledger_head, key(1));
  journal::StateRecord record;
  record.release_head = journal::Hash{7};
  record.ledger_epochs = journal::enclosed_lines({taken}, key(1));
  const auto handed_on = [&](bool reserves) {
    return journal::hand_over_lines("toy", record, journal::hash_of(before), reserves, key(1), key(2));
  };
  const std::string lines = handed_on(true);
  const std::size_t end = lines.find('\n');
  const journal::UnsealedLine closing = journal::read_unsealed(std::string_view(lines).substr(0, end));
  EXPECT_EQ(closing.entry.value().steps, StepCount{9});
  EXPECT_FALSE(closing.entry->taken);
  EXPECT_EQ(closing.released, record.release_head);
  journal::LedgerVerifier verifier(key(2));
  verifier.add(std::string_view(before).substr(0, before.size() - 1));
  verifier.add(std::string_view(lines).substr(0, end));
  verifier.add(std::string_view(lines).substr(end + 1, lines.size() - end - 2));
  EXPECT_EQ(std::move(verifier).finish().epochs.at(0).steps, StepCount{9});
  EXPECT_EQ(handed_on(false), journal::rotation_line("toy", journal::hash_of(before), key(1), key(2)));
}

TEST(RotateKey, LeavesAStateForOneOfTheKeysWhereverItCrashes) {
  for (std::uint64_t crash_at = 1;; ++crash_at) {
    SCOPED_TRACE(crash_at);
    SimulatedDisk disk(crash_at);
    run_batches(disk, key(1), 2);
    disk.start_process({.crash_at = crash_at, .fail_at = 0});
    bool crashed = false;
    try {
      journal::rotate_key(disk, folder, key(1), key(2));
    } catch (const SimulatedCrash&) {
      crashed = true;
    }
    disk.lose_power();
    disk.start_process({});
    const bool rotated = secrets::read_identity(disk.seen(folder / "state")).is_private && [&] {
      try {
        static_cast<void>(journal::open_state(key(2), disk.seen(folder / "state")));
        return true;
      } catch (const Failure&) {
        return false;
      }
    }();
    if (!rotated) journal::rotate_key(disk, folder, key(1), key(2));
    run_batches(disk, key(2), 1);
    EXPECT_EQ(journal::read_ledger(disk, folder, key(2)).epochs.at(0).steps, StepCount{6});
    if (!crashed) {
      EXPECT_GT(crash_at, 10U);
      return;
    }
  }
}

}  // namespace
}  // namespace nustream::tests
