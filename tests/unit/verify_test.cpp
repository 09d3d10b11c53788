// Releases and a ledger as a third party reads them: every way to change them without being noticed.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "keys_from.h"
#include "verified_world.h"

namespace nustream::tests {
namespace {

TEST(Verify, BelievesWhatWasPublished) {
  const auto keys = keys_from(1);
  const verify::Verified verified = check(two_epochs(keys), keys.public_key());
  EXPECT_EQ(verified.ledger.lines, 5U);
  EXPECT_EQ(verified.ledger.signed_lines, 5U);
  EXPECT_DOUBLE_EQ(verified.total.value(), .05);
  ASSERT_EQ(verified.lanes.size(), 1U);
  const verify::CheckedReleases& lane = verified.lanes.begin()->second;
  EXPECT_EQ(lane.releases, 5U);
  EXPECT_EQ(lane.signed_releases, 4U);  // the releases at steps 10 and 20 of each epoch
  EXPECT_EQ(lane.unsigned_end, 0U);
  EXPECT_FALSE(lane.begins_later);
}

/// Changes one byte in seven of `lines`, each by itself, and shows `look` what is still verified.
void change_bytes(std::vector<std::string> World::*lines, const secrets::Keyring& keys,
                  const std::function<void(std::size_t line, std::size_t at, const verify::Verified&)>& look) {
  const World world = two_epochs(keys);
  for (std::size_t line = 0; line < (world.*lines).size(); ++line) {
    for (std::size_t at = 0; at + 1 < (world.*lines)[line].size(); at += 7) {
      World changed = world;
      (changed.*lines)[line][at] ^= 1;
      try {
        look(line, at, check(changed, keys.public_key()));
      } catch (const Failure&) {
      }
    }
  }
}

TEST(Verify, SeesEveryChangedByteOfReleasesInFrontOfTheLastSignature) {
  const auto keys = keys_from(1);
  const std::size_t count = two_epochs(keys).releases.size();
  change_bytes(&World::releases, keys, [&](std::size_t line, std::size_t at, const verify::Verified& verified) {
    // The last line may have lost its signature or its chain: it is then told as an unsigned end. The same is said of
    // a line that claims to belong to another lane: of the first line, behind which the lane's own then begins, or of
    // the last.
    const auto own = verified.lanes.find({"sales", LaneId{0}});
    const bool is_first = line == 0 && own != verified.lanes.end() && own->second.begins_later;
    EXPECT_TRUE(is_first || line + 1 == count) << line << ' ' << at;
    std::uint64_t unsigned_end = 0;
    for (const auto& [name, lane] : verified.lanes) unsigned_end += lane.unsigned_end;
    EXPECT_GT(unsigned_end, 0U) << line << ' ' << at;
  });
}

TEST(Verify, SeesEveryChangedByteOfTheLedger) {
  const auto keys = keys_from(1);
  const World world = two_epochs(keys);
  change_bytes(&World::ledger, keys, [&](std::size_t line, std::size_t at, const verify::Verified&) {
    EXPECT_EQ(line + 1, world.ledger.size()) << line << ' ' << at;
    // Only those who have the key can check the MAC.
    EXPECT_GT(at, world.ledger[line].find(R"("mac":")")) << line << ' ' << at;
  });
}

TEST(Verify, SeesLinesThatAreMissingOrMoved) {
  const auto keys = keys_from(1);
  const World world = two_epochs(keys);
  const auto refused = [&](const std::function<void(World&)>& change, const std::string& part) {
    World changed = world;
    change(changed);
    expect_refused(changed, keys.public_key(), part);
  };
  refused([](World& w) { w.releases.erase(w.releases.begin() + 2); }, "releases.jsonl:3: does not follow");
  refused([](World& w) { std::swap(w.releases[1], w.releases[2]); }, "does not follow");
  refused([](World& w) { w.releases.insert(w.releases.begin() + 1, w.releases[0]); }, "does not follow");
  refused([](World& w) { w.ledger.erase(w.ledger.begin()); }, "ledger:1: does not follow");
  refused([](World& w) { w.ledger.erase(w.ledger.begin() + 2); }, "does not follow");
  refused([](World& w) { w.ledger.pop_back(); }, "beyond the steps of its ledger line");
  refused([](World& w) { w.ledger.resize(3); }, "an epoch that the ledger does not know");
  refused([](World& w) { w.releases[0] = "{}\n"; }, "is no release");
  refused([](World& w) { w.releases.clear(); }, "holds no release");
}

// What a later version means by its chain and its signatures is unknown here: it is not taken for a changed line.
TEST(Verify, RefusesAnotherFormatBeforeItLooksAtTheChain) {
  const auto keys = keys_from(1);
  World world = two_epochs(keys);
  std::swap(world.releases[1], world.releases[2]);
  const std::string first = "{\"format\":1";
  for (std::string& line : world.releases) {
    if (line.starts_with(first)) line.erase(1, first.size());
    line.insert(1, "\"format\":2,");
  }
  expect_refused(world, keys.public_key(), "releases.jsonl:1: a release of format 2; this version reads format 1");
}

// Fields behind a signature would count although nobody signed them: nothing else vouches for the last line.
TEST(Verify, LetsNothingStandBehindASignature) {
  const auto keys = keys_from(1);
  World world = two_epochs(keys);
  std::string& last = world.ledger.back();
  last.insert(last.find(",\"mac\""), R"(,"rotated":true)");
  expect_refused(world, keys.public_key(), "fields that its signature is not about");
  World longer = two_epochs(keys);
  std::string& released = longer.releases.back();
  released.insert(released.size() - 2, R"(,"moments":{"records":1})");
  EXPECT_THROW(static_cast<void>(check(longer, keys.public_key())), Failure);
}

TEST(Verify, BelievesNobodyElsesKey) {
  const auto keys = keys_from(1);
  expect_refused(two_epochs(keys), keys_from(2).public_key(), "no line is signed under this public key");
  expect_failure(
      Exit::io,
      [&] {
        static_cast<void>(verify::check({"", "", "no key"}));
      },
      "--public-key");
}

// Signatures that were left out are noticed, whatever else was chained anew.
TEST(Verify, BelievesNoReleasesThatNobodySigned) {
  const auto keys = keys_from(1);
  const World world = two_epochs(keys);
  World stripped = world;
  stripped.releases.clear();
  stripped.chain = {10};
  for (std::size_t i = 0; i < world.releases.size(); ++i) {
    const std::string plain = i < 3 ? release(0, 10 * (i + 1)) : release(1, 10 * (i - 2), spent(30));
    stripped.publish(plain, keys_from(3));
  }
  expect_refused(stripped, keys.public_key(), "5 releases have no trusted signature");
  for (std::string& line : stripped.releases) line = line.substr(0, line.find(",\"previous\"")) + "}\n";
  expect_refused(stripped, keys.public_key(), "5 releases have no trusted signature");
}

TEST(Verify, CountsHowManyReleasesAreUnsignedInARow) {
  const auto keys = keys_from(1);
  World world = two_epochs(keys);
  world.enter(reserving(1, 20, 1000), keys);
  for (std::uint64_t step = 30; step <= 160; step += 10) world.publish(release(1, step, spent(30)), keys);
  EXPECT_EQ(check(world, keys.public_key()).lanes.begin()->second.unsigned_end, 0U);
  // Behind the 16th release the next signature comes with the 32nd: until then a thief could go on in the run's place
  // if nobody counted.
  const auto thief = keys_from(2);
  for (std::uint64_t step = 170; step <= 320; step += 10) world.publish(release(1, step, spent(30)), thief);
  expect_refused(
      world, keys.public_key(),
      "16 releases at the end have no trusted signature, and a stream leaves at most 15 in a row unsigned");
  world.releases.pop_back();
  EXPECT_EQ(check(world, keys.public_key()).lanes.begin()->second.unsigned_end, 15U);
}

// The last answer of a stream may stand behind the last signature: the ledger names it, and the ledger's last line is
// signed.
TEST(Verify, BelievesTheLedgerAboutTheLastReleases) {
  const auto keys = keys_from(1);
  World world = two_epochs(keys);
  world.publish(release(1, 30, spent(30)), keys);
  world.enter(entry(1, 30), keys);
  ASSERT_EQ(world.releases.back().find("\"signature\""), std::string::npos);
  EXPECT_EQ(check(world, keys.public_key()).lanes.begin()->second.unsigned_end, 0U);
  std::string& last = world.releases.back();
  last[last.find("1.5")] = '2';
  expect_refused(world, keys.public_key(), "step 30 of epoch 1 is not the one that the ledger names");
  // A file that ends earlier cannot be told from one that was copied earlier: the ledger was written later.
  world.enter(entry(1, 39), keys);
  EXPECT_EQ(check(world, keys.public_key()).lanes.begin()->second.unsigned_end, 1U);
}

/// The world of a run that goes on: its last line pays for 64 steps, and was written before the releases at 30
/// and 40.
World running(const secrets::Keyring& keys) {
  World world = two_epochs(keys);
  world.enter(reserving(1, 20, 64), keys);
  for (const std::uint64_t step : {30U, 40U}) world.publish(release(1, step, spent(30)), keys);
  return world;
}

// The signatures of the releases vouch for what follows the last line, and that line pays for it.
TEST(Verify, GoesOnBehindTheLastLineWithinWhatItReserves) {
  const auto keys = keys_from(1);
  World world = running(keys);
  const verify::Verified verified = check(world, keys.public_key());
  const verify::CheckedReleases& lane = verified.lanes.begin()->second;
  EXPECT_DOUBLE_EQ(verified.total.value(), spent(30) + spent(64)) << "what is charged where the state is lost";
  EXPECT_EQ(lane.unsigned_end, 0U);
  EXPECT_EQ(lane.named, verified.ledger.last_released);
  EXPECT_NE(lane.head, lane.named);
  World cut = world;  // the file ends before the release that the line names
  cut.releases.resize(4);
  const verify::Verified shorter = check(cut, keys.public_key());
  EXPECT_NE(shorter.lanes.begin()->second.named, shorter.ledger.last_released);
  world.publish(release(1, 70, spent(30)), keys);
  expect_refused(world, keys.public_key(), "beyond the steps of its ledger line");
}

// A line that closes an epoch says what was taken, and names the last answer.
TEST(Verify, BelievesALineThatCloses) {
  const auto keys = keys_from(1);
  World world = running(keys);
  world.enter(entry(1, 40), keys);
  const verify::Verified verified = check(world, keys.public_key());
  EXPECT_DOUBLE_EQ(verified.total.value(), spent(30) + spent(40));
  EXPECT_EQ(verified.lanes.begin()->second.head, verified.ledger.last_released);
  World longer = world;
  longer.publish(release(1, 40, spent(30)), keys);
  expect_refused(longer, keys.public_key(), "follows on the one that the ledger names as the last");
  std::string& last = world.releases.back();
  last[last.find("1.5")] = '2';
  expect_refused(world, keys.public_key(), "step 40 of epoch 1 is not the one that the ledger names");
}

/// What `nustream verify --json` says of the file's end; nothing where it says nothing.
std::string file_end(const World& world, const secrets::Keyring& keys) {
  constexpr std::string_view member = "\"ends_as_the_ledger_names\":";
  const TemporaryFolder folder;
  ::testing::internal::CaptureStdout();
  const Exit end =
      verify::run({folder.write("releases.jsonl", joined(world.releases)),
                   folder.write("ledger", joined(world.ledger)), secrets::to_hex(keys.public_key()), true});
  const std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(end, Exit::done);
  const std::size_t at = text.find(member);
  return at == std::string::npos ? "" : text.substr(at + member.size(), text.find(',', at) - at - member.size());
}

// A line that reserves is written before what it pays for: only one that closes tells where the file ends.
TEST(Verify, TellsTheFilesEndByALineThatCloses) {
  const auto keys = keys_from(1);
  World world = running(keys);
  EXPECT_EQ(file_end(world, keys), "");
  World cut = world;
  cut.releases.resize(5);  // up to what the last line names
  EXPECT_EQ(file_end(cut, keys), "") << "the same file, of which two are missing";
  cut.releases.resize(4);
  EXPECT_EQ(file_end(cut, keys), "false");
  world.enter(entry(1, 40), keys);
  EXPECT_EQ(file_end(world, keys), "true");
  world.releases.pop_back();
  EXPECT_EQ(file_end(world, keys), "false");
}

// Whoever asks for completeness as a check is told by the exit code wherever it is not certain.
TEST(Verify, CanRequireThatTheFileEndsAsTheLedgerNames) {
  const auto keys = keys_from(1);
  World world = running(keys);
  const auto expect = [&](const World& one, const std::string& part) {
    const std::string said = incomplete(one, keys);
    EXPECT_NE(said.find("releases.jsonl is not known to be complete (--complete): " + part), std::string::npos)
        << said;
  };
  expect(world, "the ledger's last line reserves steps");
  World cut = world;
  cut.releases.resize(4);
  expect(cut, "it does not end with the release that the ledger names as the last");
  world.enter(entry(1, 40), keys);
  EXPECT_EQ(incomplete(world, keys), "");
  World later = world;
  later.releases.erase(later.releases.begin());
  expect(later, "its first release follows on one that is not in it");
  later.releases.erase(later.releases.begin());
  expect(later, "its first release follows on one that is not in it");
  World shared = world;
  World other;
  other.publish(release(0, 10, 0, 1), keys);
  shared.releases.push_back(other.releases.front());
  expect(shared, "it holds releases of several lanes");
  world.releases.pop_back();
  expect(world, "it does not end with the release");
}

// Releases that were put back from an older copy, and gone on from, are chained and end as the ledger names.
TEST(Verify, CanRequireAllReleasesThatTheLedgerNames) {
  const auto keys = keys_from(1);
  World world = two_epochs(keys);
  EXPECT_EQ(incomplete(world, keys), "");
  world.releases.resize(2);
  world.chain.head = journal::hash_of(world.releases.back());
  world.publish(release(2, 10, spent(30) + spent(20)), keys);
  world.enter(entry(2, 10), keys);
  static_cast<void>(check(world, keys.public_key()));
  const std::string said = incomplete(world, keys);
  EXPECT_NE(said.find("the release that line 3 of "), std::string::npos) << said;
}

TEST(Verify, RefusesSpendThatTheLedgerDoesNotHave) {
  const auto keys = keys_from(1);
  World world = two_epochs(keys);
  world.publish(release(1, 20, 1), keys);
  expect_refused(world, keys.public_key(), "the ledger lacks lines");
}

TEST(Verify, TellsOfAFileThatBeginsLater) {
  const auto keys = keys_from(1);
  World world = two_epochs(keys);
  world.releases.erase(world.releases.begin(), world.releases.begin() + 2);
  EXPECT_TRUE(check(world, keys.public_key()).lanes.begin()->second.begins_later);
}

// The first release behind those of an earlier version names the last of them.
TEST(Verify, GoesOnBehindReleasesThatAreNotChained) {
  const auto keys = keys_from(1);
  World world;
  world.releases = {release(0, 10), release(0, 20)};
  world.chain.head = journal::release_head(world.releases.back());
  world.publish(release(0, 40), keys);
  world.enter(entry(0, 40), keys);
  const verify::Verified verified = check(world, keys.public_key());
  EXPECT_EQ(verified.lanes.begin()->second.unchained, 2U);
  EXPECT_FALSE(verified.lanes.begin()->second.begins_later);
  World changed = world;
  changed.releases[1] = release(0, 30);
  expect_refused(changed, keys.public_key(), "does not follow");
  World stripped = world;
  stripped.publish(release(0, 50), keys);
  stripped.releases.push_back(release(0, 60));
  expect_refused(stripped, keys.public_key(), "does not name the release before it");
}

// No release is chained to one that a signal brought; such a release is believed for its own signature alone.
TEST(Verify, BelievesWhatASignalBroughtByItsOwnSignature) {
  const auto keys = keys_from(1);
  World world = two_epochs(keys);
  std::string line = release(1, 25, spent(30));
  line.replace(line.find("cadence"), 7, "shutdown");
  world.publish(line, keys);
  world.publish(release(1, 30, spent(30)), keys);
  world.enter(entry(1, 30), keys);
  EXPECT_EQ(check(world, keys.public_key()).lanes.begin()->second.releases, 7U);
  World without = world;
  without.releases.erase(without.releases.end() - 2);
  EXPECT_EQ(check(without, keys.public_key()).lanes.begin()->second.releases, 6U);
  std::string& changed = world.releases[world.releases.size() - 2];
  changed[changed.find("1.5")] = '2';
  expect_refused(world, keys.public_key(), "has no signature of a trusted key");
}

// Two such releases name the same one before them: their steps tell their order.
TEST(Verify, FindsWhatSignalsBroughtWhereItWasMovedOrRepeated) {
  const auto keys = keys_from(1);
  World world = two_epochs(keys);
  for (const std::uint64_t step : {25U, 27U}) {
    std::string line = release(1, step, spent(30));
    line.replace(line.find("cadence"), 7, "shutdown");
    world.publish(line, keys);
  }
  world.publish(release(1, 30, spent(30)), keys);
  world.enter(entry(1, 30), keys);
  const std::size_t at = world.releases.size() - 3;
  World repeated = world;
  repeated.releases.insert(repeated.releases.end() - 2, world.releases[at]);
  expect_refused(repeated, keys.public_key(), "is there twice");
  World moved = world;
  std::swap(moved.releases[at], moved.releases[at + 1]);
  expect_refused(moved, keys.public_key(), "comes behind a release of a later step");
  moved = world;
  std::swap(moved.releases[at + 1], moved.releases[at + 2]);
  expect_refused(moved, keys.public_key(), "does not follow");
}

// Nobody vouches for a lane that somebody made up, however well its releases fit each other.
TEST(Verify, BelievesNoLaneThatNobodySigned) {
  const auto keys = keys_from(1);
  World world = two_epochs(keys);
  const auto forgers = keys_from(2);
  journal::ReleaseChain forged{1000};
  for (std::uint64_t step = 10; step <= 400; step += 10) {
    world.releases.push_back(journal::chained(release(0, step, 0, 1), forged, forgers));
  }
  expect_refused(world, keys.public_key(), "lane 1: 40 releases have no trusted signature");
}

TEST(Verify, ChecksOtherLanesBesideTheLedgers) {
  const auto keys = keys_from(1);
  World world = two_epochs(keys);
  journal::ReleaseChain other{10};
  const std::string line = journal::chained(release(0, 10, 0, 1), other, keys);
  world.releases.insert(world.releases.begin() + 1, line);
  EXPECT_EQ(check(world, keys.public_key()).lanes.size(), 2U);
  world.releases.insert(world.releases.begin() + 1, line);
  expect_refused(world, keys.public_key(), "does not follow");
}

}  // namespace
}  // namespace nustream::tests
