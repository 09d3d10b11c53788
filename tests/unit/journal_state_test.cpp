// The state's record and its bookmark: canonical, complete, and refused when a byte is missing.
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>
#include <random>
#include <string>
#include <utility>

#include "expect_failure.h"
#include "journal/outbox_folder.h"
#include "journal/state_record.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

journal::StateRecord example() {
  journal::StateRecord record;
  record.position = Position{12'345'678'901};
  record.start = Position{17};
  record.stop = Position{99'999'999'999};
  record.rejected = 3;
  record.lane = std::string("lane\0bytes", 10);
  record.noise.stages.push_back({{{StepIndex{5}, {1, 2, 255}}}, {0.1, -0.0, 1e-310}});
  record.noise.stages.push_back({{{StepIndex{6}, {7}}, {StepIndex{9}, {8}}}, {}});
  record.outbox = "{\"step\":1}\n{\"step\":2}\n";
  record.ledger_entry = "{\"rho\":1}\n";
  record.bookmark = journal::encode_bookmark({{3, journal::hash_of("abc")}, {0, journal::hash_of("")}});
  record.ledger_head[31] = 9;
  record.released = StepCount{40};
  record.ledger_epochs = "{\"epoch\":0}\n";
  record.partitions = 4;
  record.stop_asked = "end";
  record.seen = {{Position{7}, journal::hash_of("seven")}, {Position{9}, journal::hash_of("nine")}};
  record.seen_key = journal::hash_of("key");
  record.account = {1, 2, 3};
  record.settings = "loss=6:linear\n";
  return record;
}

TEST(StateRecord, ReadsBackWhatItWrote) {
  const std::string bytes = journal::encode_record(example());
  const journal::StateRecord record = journal::decode_record(bytes);
  EXPECT_EQ(journal::encode_record(record), bytes);
  EXPECT_EQ(record.position, Position{12'345'678'901});
  EXPECT_EQ(record.start, Position{17});
  EXPECT_EQ(record.stop, Position{99'999'999'999});
  EXPECT_EQ(record.rejected, 3U);
  EXPECT_EQ(record.lane, example().lane);
  ASSERT_EQ(record.noise.stages.size(), 2U);
  ASSERT_EQ(record.noise.stages[0].segments.size(), 1U);
  EXPECT_EQ(record.noise.stages[0].segments[0].first, StepIndex{5});
  EXPECT_EQ(record.noise.stages[0].segments[0].chain_key, (noise::KeyBytes{1, 2, 255}));
  ASSERT_EQ(record.noise.stages[1].segments.size(), 2U);
  EXPECT_EQ(record.noise.stages[1].segments[1].first, StepIndex{9});
  EXPECT_EQ(record.noise.stages[1].segments[1].chain_key, noise::KeyBytes{8});
  EXPECT_FALSE(record.noise.in_blocks);
  EXPECT_EQ(record.noise.stages[0].memory, (std::vector<double>{0.1, -0.0, 1e-310}));
  EXPECT_EQ(record.recovery().outbox, example().outbox);
  EXPECT_EQ(record.recovery().ledger_entry, example().ledger_entry);
  EXPECT_EQ(record.recovery().bookmark, example().bookmark);
  EXPECT_EQ(record.ledger_head, example().ledger_head);
  EXPECT_EQ(record.released, StepCount{40});
  EXPECT_EQ(record.ledger_epochs, example().ledger_epochs);
  EXPECT_EQ(record.partitions, 4U);
  EXPECT_TRUE(record.seen == example().seen);
  EXPECT_EQ(record.stop_asked, "end");
  EXPECT_EQ(record.seen_key, example().seen_key);
  EXPECT_EQ(record.account, example().account);
  EXPECT_EQ(record.settings, example().settings);
}

// A state that an earlier version sealed can be resumed: its noise is one segment for each stage, which begins with a
// block.
TEST(StateRecord, OfEarlierFormatsIsRead) {
  journal::StateRecord record = example();
  record.noise.in_blocks = true;
  record.noise.stages[1].segments.resize(1);
  record.settings.clear();
  std::string bytes = journal::encode_record(record);
  std::string earlier = bytes;
  earlier[0] = 10;  // format 10 lacks fields that only users have, and there are no users here
  EXPECT_EQ(journal::encode_record(journal::decode_record(earlier)), bytes);
  earlier.resize(earlier.size() - 32);  // the release head
  earlier[0] = 9;
  EXPECT_EQ(journal::encode_record(journal::decode_record(earlier)), bytes);
  earlier.resize(earlier.size() - 4);  // the ranges
  earlier[0] = 8;
  EXPECT_EQ(journal::encode_record(journal::decode_record(earlier)), bytes);
  earlier.resize(earlier.size() - 1);  // that there are no users
  earlier[0] = 7;
  EXPECT_EQ(journal::encode_record(journal::decode_record(earlier)), bytes);
  earlier.resize(earlier.size() - 4);  // the settings
  earlier[0] = 6;
  EXPECT_EQ(journal::encode_record(journal::decode_record(earlier)), bytes);
  earlier.erase(132, 4);  // the number of segments of the second stage
  earlier.erase(55, 5);   // that number of the first stage, and the mark that blocks are counted
  earlier[0] = 5;
  EXPECT_EQ(journal::encode_record(journal::decode_record(earlier)), bytes);
  record.stop_asked.clear();
  record.seen_key = {};
  record.account = {};
  bytes = journal::encode_record(record);
  earlier = earlier.substr(0, earlier.size() - 32 - 16 - 3);  // "end"
  earlier[earlier.size() - 4] = 0;
  earlier += std::string(32, '\0');  // the key of the marks
  earlier[0] = 4;
  EXPECT_EQ(journal::encode_record(journal::decode_record(earlier)), bytes);
  earlier.resize(earlier.size() - 32);
  earlier[0] = 3;
  EXPECT_EQ(journal::encode_record(journal::decode_record(earlier)), bytes);
  earlier.resize(earlier.size() - 4);  // the length of the empty text
  earlier[0] = 2;
  EXPECT_EQ(journal::encode_record(journal::decode_record(earlier)), bytes);
}

// tests/golden/state_twin.py sealed this state, in Python and after docs/formats/state.md. Whoever holds such a state
// must be able to resume it.
TEST(SealedState, OfFormat5Opens) {
  noise::KeyBytes master{};
  std::iota(master.begin(), master.end(), std::uint8_t{1});
  const std::string sealed = read_file(std::filesystem::path(NUSTREAM_TESTS_DIR) / "golden/data/state_format5.bin");
  const journal::State state = journal::open_state(secrets::Keyring::from_master(master), sealed);
  EXPECT_EQ(state.identity.stream, "retail");
  EXPECT_EQ(state.identity.lane, LaneId{1});
  EXPECT_EQ(state.identity.epoch, EpochId{2});
  EXPECT_EQ(state.identity.steps, StepCount{3});
  EXPECT_EQ(state.identity.settings_digest, std::string(64, 'a'));
  EXPECT_TRUE(state.identity.is_private);
  journal::StateRecord expected = example();
  expected.noise.in_blocks = true;
  expected.noise.stages[1].segments.resize(1);
  expected.settings.clear();
  EXPECT_EQ(journal::encode_record(state.record), journal::encode_record(expected));
}

// The offsets are those of docs/formats/state.md.
TEST(StateRecord, HasTheBytesOfItsPage) {
  const std::string bytes = journal::encode_record(example());
  EXPECT_EQ(bytes.substr(0, 12), std::string("\x0c\0\0\0\x35\x1c\xdc\xdf\x02\0\0\0", 12));
  EXPECT_EQ(bytes.substr(37, 14), std::string("\x0a\0\0\0lane\0bytes", 14));
  EXPECT_EQ(bytes.size(), 4U + 8 + 8 + 9 + 8 + 14 + 4 + 1 + (4 + 40 + 8 + 24) + (4 + 2 * 40 + 8) + 4 + 22 + 4 + 10 +
                              4 + 80 + 32 + 8 + (4 + 12) + 4 + 4 + 2 * (8 + 32) + (4 + 3) + 32 + 16 + (4 + 14) + 1 +
                              4 + 32);
}

TEST(StateRecord, HoldsTheUsersOfAFolder) {
  journal::StateRecord record = example();
  const std::string without = journal::encode_record(record);
  record.users.emplace();
  std::iota(record.users->key.begin(), record.users->key.end(), std::uint8_t{1});
  record.users->mark = std::string(40, 'm');
  record.users->identity = "who of csv";
  const std::string bytes = journal::encode_record(record);
  ASSERT_EQ(bytes.size(), without.size() + 32 + (4 + 40) + (4 + 10) + 9 + 9);
  std::string key(32, '\0');
  std::iota(key.begin(), key.end(), '\x01');
  EXPECT_EQ(bytes.substr(without.size() - 37), "\x01" + key + std::string("\x28\0\0\0", 4) + std::string(40, 'm') +
                                                   std::string("\x0a\0\0\0who of csv", 14) +
                                                   std::string(9 + 9 + 4 + 32, '\0'));
  EXPECT_EQ(journal::encode_record(journal::decode_record(bytes)), bytes);
  for (std::size_t length = without.size(); length < bytes.size(); ++length) {
    expect_failure(Exit::data, [&] { static_cast<void>(journal::decode_record(bytes.substr(0, length))); });
  }
}

// Windows of time before 1970 are held too; in format 10 the fields of users end behind the column.
TEST(StateRecord, HoldsTheClockOfUsers) {
  journal::StateRecord record = example();
  record.users.emplace();
  const std::string without = journal::encode_record(record);
  record.users->latest = 258;
  record.users->window = -2;
  const std::string bytes = journal::encode_record(record);
  const std::size_t behind = 4 + 32;  // the ranges and the release head
  EXPECT_EQ(bytes.substr(bytes.size() - behind - 18, 18),
            std::string("\x01\x02\x01\0\0\0\0\0\0\x01\xfe\xff\xff\xff\xff\xff\xff\xff", 18));
  const journal::StateRecord read = journal::decode_record(bytes);
  EXPECT_EQ(read.users->latest, 258);
  EXPECT_EQ(read.users->window, -2);
  std::string unmarked = bytes;
  unmarked[unmarked.size() - behind - 18] = 0;  // a time that is marked as missing
  expect_failure(Exit::data, [&] { static_cast<void>(journal::decode_record(unmarked)); });
  std::string earlier = without;
  earlier.erase(earlier.size() - behind - 18, 18);
  earlier[0] = 10;
  EXPECT_EQ(journal::encode_record(journal::decode_record(earlier)), without);
}

TEST(StateRecord, HoldsTheRangesThatWereMeasured) {
  journal::StateRecord record = example();
  record.ranges = "rule 00\nnoise.nu=0.25\n";
  const std::string bytes = journal::encode_record(record);
  EXPECT_EQ(bytes.substr(bytes.size() - 26 - 32, 26), std::string("\x16\0\0\0rule 00\nnoise.nu=0.25\n", 26));
  EXPECT_EQ(journal::decode_record(bytes).ranges, record.ranges);
}

TEST(StateRecord, HoldsTheHeadOfTheReleases) {
  journal::StateRecord record = example();
  record.release_head = journal::hash_of("the last release");
  const std::string bytes = journal::encode_record(record);
  EXPECT_TRUE(std::equal(record.release_head.begin(), record.release_head.end(), bytes.end() - 32,
                         [](std::uint8_t one, char other) { return one == static_cast<std::uint8_t>(other); }));
  EXPECT_EQ(journal::decode_record(bytes).release_head, record.release_head);
}

TEST(StateRecord, RefusesBytesThatAreMissingOrTooMany) {
  const std::string bytes = journal::encode_record(example());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    expect_failure(Exit::data, [&] { static_cast<void>(journal::decode_record(bytes.substr(0, length))); });
  }
  expect_failure(Exit::data, [&] { static_cast<void>(journal::decode_record(bytes + "x")); });
}

TEST(StateRecord, OfALaterFormatIsNamed) {
  std::string later = journal::encode_record(example());
  const char format = later[0];  // the format's number is little-endian, as its page says
  later[0] = static_cast<char>(format + 1);
  expect_failure(
      Exit::data, [&] { static_cast<void>(journal::decode_record(later)); },
      "has format " + std::to_string(format + 1) + ", this version reads formats 2 to " + std::to_string(format) +
          "; use the version that wrote it");
}

// Lengths and counts that lead out of the record are refused before anything of their size is allocated.
TEST(StateRecord, SurvivesRandomBytes) {
  std::mt19937_64 random(5);
  const std::string bytes = journal::encode_record(example());
  for (int round = 0; round < 20'000; ++round) {
    std::string changed = bytes;
    for (auto flips = 1 + random() % 4; flips > 0; --flips) {
      changed[random() % changed.size()] = static_cast<char>(random() % 256);
    }
    try {
      // Each record has a single encoding.
      EXPECT_EQ(journal::encode_record(journal::decode_record(changed)), changed);
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), Exit::data);
    }
  }
}

TEST(RecordMarks, TellPositionContentAndKeyApart) {
  const journal::Hash key = journal::hash_of("key");
  const journal::Hash mark = journal::record_mark(Position{3}, "1,2", key);
  EXPECT_EQ(mark, journal::record_mark(Position{3}, "1,2", key));
  EXPECT_NE(mark, journal::record_mark(Position{4}, "1,2", key));
  EXPECT_NE(mark, journal::record_mark(Position{3}, "1,3", key));
  EXPECT_NE(mark, journal::record_mark(Position{3}, "1,2", journal::hash_of("other")));
}

// However many commits there were, at most eight marks are kept. The first and the last commit are among them, and no
// stretch without a mark is longer than half of everything.
TEST(RecordMarks, KeepTheFirstTheLastAndSomeBetween) {
  std::mt19937_64 random(6);
  std::vector<journal::SeenRecord> marks;
  std::uint64_t position = 5;
  for (int commit = 0; commit < 3000; ++commit, position += 1 + random() % 100) {
    journal::add_mark({Position{position}}, marks);
    journal::add_mark({Position{position}}, marks);  // a commit that read nothing new
    ASSERT_LE(marks.size(), journal::marks_kept);
    ASSERT_EQ(marks.front().position, Position{5});
    ASSERT_EQ(marks.back().position, Position{position});
    for (std::size_t i = 1; i < marks.size(); ++i) {
      ASSERT_LT(marks[i - 1].position, marks[i].position);
      if (commit < 20) continue;
      ASSERT_LE(marks[i].position.value() - marks[i - 1].position.value(), (position - 5) / 2);
    }
  }
}

TEST(NoiseCheckpoints, LeaveNothingBehindWhenMoved) {
  journal::NoiseCheckpoints from({{{StepIndex{1}, {1}}}, {0.5}});
  const journal::NoiseCheckpoints to = std::move(from);
  EXPECT_TRUE(from.stages.empty());  // NOLINT(bugprone-use-after-move,clang-analyzer-cplusplus.Move): what is tested
  EXPECT_EQ(to.stages.size(), 1U);
}

TEST(SealedState, OpensToTheSameRecord) {
  const auto keys = secrets::Keyring::insecure(1);
  const secrets::StateIdentity identity{"retail", LaneId{1}, EpochId{2}, StepCount{3}, std::string(64, 'a'), false};
  const std::string sealed = journal::seal_state(keys, identity, example());
  const journal::State state = journal::open_state(keys, sealed);
  EXPECT_EQ(state.identity.steps, StepCount{3});
  EXPECT_EQ(journal::encode_record(state.record), journal::encode_record(example()));
  EXPECT_EQ(sealed.find(example().outbox), std::string::npos);
}

TEST(Bookmark, RefusesOtherBytes) {
  const std::string bytes = journal::encode_bookmark({});
  EXPECT_EQ(bytes.size(), 80U);
  EXPECT_EQ(journal::decode_bookmark(bytes).releases, journal::Extent{});
  expect_failure(Exit::data, [&] { static_cast<void>(journal::decode_bookmark(bytes + "x")); });
  expect_failure(Exit::data, [&] { static_cast<void>(journal::decode_bookmark(bytes.substr(1))); });
}

// The expected bytes are hashlib.blake2b(b"abc", digest_size=32).
TEST(RunningHash, IsBlake2b) {
  const journal::Hash hash = journal::hash_of("abc");
  EXPECT_EQ((std::vector<std::uint8_t>(hash.begin(), hash.begin() + 4)),
            (std::vector<std::uint8_t>{0xbd, 0xdd, 0x81, 0x3c}));
  journal::RunningHash pieces;
  pieces.add("a");
  static_cast<void>(pieces.value());
  pieces.add("bc");
  EXPECT_EQ(pieces.value(), hash);
}

}  // namespace
}  // namespace nustream::tests
