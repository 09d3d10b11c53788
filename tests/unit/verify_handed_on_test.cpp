// A key that was handed on, as a third party reads it: what the old key vouches for still, and what it never vouches
// for again.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "keys_from.h"
#include "verified_world.h"

namespace nustream::tests {
namespace {

TEST(Verify, FollowsAKeyThatWasHandedOn) {
  const auto first = keys_from(1);
  const auto second = keys_from(2);
  World world = two_epochs(first);
  world.enter(journal::rotation_line("sales", world.head, first, second));
  world.publish(release(1, 40, spent(30)), second);
  world.enter(entry(1, 40), second);
  const verify::Verified by_first = check(world, first.public_key());
  EXPECT_EQ(by_first.ledger.rotations, 1U);
  EXPECT_EQ(by_first.ledger.signed_lines, 7U);
  EXPECT_EQ(by_first.lanes.begin()->second.unsigned_end, 0U);
  // Whoever has the new key alone believes what it vouches for, which is all that is before it.
  const verify::Verified by_second = check(world, second.public_key());
  EXPECT_EQ(by_second.ledger.signed_lines, 2U);
  // A key that the old key did not sign is not believed.
  World stolen = two_epochs(first);
  stolen.enter(journal::rotation_line("sales", stolen.head, second, second));
  stolen.publish(release(1, 40, spent(30)), second);
  stolen.enter(entry(1, 40), second);
  expect_refused(stolen, first.public_key(), "its last line is signed by nobody who is trusted here");
}

std::string tagged(std::string line, const std::string& tag) {
  return line.replace(line.find("cadence"), 7, tag);
}

/// A run that ended at step 25, whose key was handed on, and that goes on under the new one, killed after step 40.
struct HandedOn {
  secrets::Keyring first = keys_from(1);
  secrets::Keyring second = keys_from(2);
  World world = two_epochs(first);

  HandedOn() {
    world.publish(tagged(release(1, 25, spent(30)), "shutdown"), first);
    world.enter(entry(1, 25), first);
    world.enter(journal::rotation_line("sales", world.head, first, second));
  }
  void go_on(const secrets::Keyring& under) {
    world.enter(reserving(1, 25, 64), second);
    for (const std::uint64_t step : {30U, 40U}) world.publish(release(1, step, spent(30)), under);
  }
  [[nodiscard]] verify::CheckedReleases checked() const {
    return check(world, first.public_key()).lanes.begin()->second;
  }
};

TEST(Verify, BelievesWhatTheOldKeySignedBeforeItWasHandedOn) {
  HandedOn stream;
  EXPECT_EQ(stream.checked().releases, 6U) << "the ledger ends with the rotation";
  stream.go_on(stream.second);
  EXPECT_EQ(stream.checked().releases, 8U);
  EXPECT_EQ(stream.checked().signed_releases, 6U) << "all but those at step 30";
  EXPECT_EQ(stream.checked().unsigned_end, 0U);
}

// A key may take its own place again: what it signs then counts, whatever its first turn ended with.
TEST(Verify, BelievesAKeyThatTookItsPlaceAgain) {
  HandedOn stream;
  stream.world.enter(journal::rotation_line("sales", stream.world.head, stream.second, stream.first));
  stream.world.publish(tagged(release(1, 30, spent(30)), "end"), stream.first);
  stream.world.enter(entry(1, 30), stream.first);
  EXPECT_EQ(stream.checked().releases, 7U);
}

// Whoever finds the old key file later has the chain, which is public, and the key: its signature says nothing there.
TEST(Verify, BelievesNoLedgerLineOfAKeyThatWasHandedOn) {
  HandedOn stream;
  stream.world.enter(entry(1, 64), stream.first);
  expect_refused(stream.world, stream.first.public_key(), "its last line is signed by nobody who is trusted here");
  HandedOn longer;
  longer.go_on(longer.second);
  longer.world.enter(entry(1, 64), longer.first);
  expect_refused(longer.world, longer.first.public_key(), "its last line is signed by nobody who is trusted here");
  // Nor does it hand on once more.
  HandedOn again;
  const auto thief = keys_from(3);
  again.world.enter(journal::rotation_line("sales", again.world.head, again.first, thief));
  again.world.enter(entry(1, 64), thief);
  expect_refused(again.world, again.first.public_key(), "its last line is signed by nobody who is trusted here");
}

TEST(Verify, BelievesNoReleaseOfAKeyThatWasHandedOn) {
  HandedOn stream;
  stream.go_on(stream.first);
  EXPECT_EQ(stream.checked().unsigned_end, 2U) << "by cadence: as if nobody had signed them";
  for (const char* tag : {"shutdown", "end", "clock"}) {
    HandedOn forged;
    forged.go_on(forged.second);
    forged.world.publish(tagged(release(1, 45, spent(30)), tag), forged.first);
    expect_refused(forged.world, forged.first.public_key(), "has no signature of a trusted key");
  }
  // Behind what the new key signed not even one of a step from before.
  HandedOn late;
  late.go_on(late.second);
  late.world.publish(tagged(release(1, 24, spent(30)), "shutdown"), late.first);
  expect_refused(late.world, late.first.public_key(), "has no signature of a trusted key");
  // Where nothing of the new key's is there: beyond the steps at the hand-over.
  HandedOn beyond;
  beyond.world.enter(reserving(1, 25, 64), beyond.second);
  beyond.world.publish(tagged(release(1, 26, spent(30)), "shutdown"), beyond.first);
  expect_refused(beyond.world, beyond.first.public_key(), "has no signature of a trusted key");
  HandedOn added;
  added.world.publish(release(1, 25, spent(30)), added.first);
  expect_refused(added.world, added.first.public_key(), "it was added");
}

/// `thief` made everything behind a line that hands the key on to it.
World stolen_by(const secrets::Keyring& thief, World world, const std::string& hand_over) {
  world.enter(hand_over);
  world.publish(release(1, 30, spent(30)), thief);
  world.enter(entry(1, 30), thief);
  return world;
}

// Any line that a stream signed is public. No such line may pass for the hand-over of the stream's key.
TEST(Verify, TakesNoOtherSignatureForAHandOver) {
  const auto keys = keys_from(1);
  const auto thief = keys_from(2);
  const World world = two_epochs(keys);
  const std::string& line = world.ledger.front();
  const std::string text = line.substr(0, line.find(",\"signature\""));
  const std::string signature = line.substr(text.size() + std::string(",\"signature\":\"").size(), 128);
  World anew;
  const std::string forged = text + ",\"handed_on\":\"" + signature + "\",\"rotated\":true,\"public_key\":\"" +
                             secrets::to_hex(thief.public_key()) + "\"}\n";
  expect_refused(stolen_by(thief, anew, forged), keys.public_key(), "other fields than a rotation has");
}

// A hand-over is signed for its place: it serves in no other ledger of the same key, and nowhere else in its own.
TEST(Verify, TakesAHandOverAtItsOwnPlaceAlone) {
  const auto keys = keys_from(1);
  const auto second = keys_from(2);
  const World world = two_epochs(keys);
  const std::string elsewhere = journal::rotation_line("sales", journal::Hash{}, keys, second);
  const std::string field = ",\"handed_on\":\"";
  const std::size_t at = elsewhere.find(field) + field.size();
  std::string moved = journal::rotation_line("sales", world.head, second, second);
  moved.replace(moved.find(field) + field.size(), 128, elsewhere, at, 128);
  expect_refused(stolen_by(second, world, moved), keys.public_key(), "signed by nobody who is trusted here");
}

}  // namespace
}  // namespace nustream::tests
