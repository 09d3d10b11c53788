// What no recorder writes is refused even where every checksum fits: no length, count or offset is taken on trust.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "decode/reader.h"
#include "decode/segment_record.h"
#include "decode_rows.h"
#include "expect_failure.h"
#include "hand_made_segment.h"
#include "segment_bytes.h"
#include "temporary_folder.h"

namespace nustream::decode {
namespace {

using tests::expect_failure;
using tests::HandMadeSegment;
using tests::header_from;
using State = SegmentReader::State;

// --- records -----------------------------------------------------------------------------------------------------

// The number of messages that a parser takes from these bytes, as a block that begins at offset 5, and whether it
// comes to their end.
std::pair<std::size_t, bool> parse(const std::string& content, std::uint64_t first = 5) {
  RecordParser parser(content, first);
  MessageBatch batch;
  std::size_t count = 0;
  while (!parser.at_end()) {
    if (!parser.next(batch)) return {count, false};
    ++count;
  }
  return {count, true};
}

using namespace std::string_literals;

// a record with gap 0, no time, 0 ms, no key, a value "v" and no headers
const std::string record = "\x07\x00\x00\x00\x00\x02v\x00"s;

TEST(SegmentRecord, IsTakenWhole) {
  EXPECT_EQ(parse(record), std::pair(std::size_t{1}, true));
  EXPECT_EQ(parse(record + record), std::pair(std::size_t{2}, true));
  for (std::size_t cut = 1; cut < record.size(); ++cut) {
    EXPECT_EQ(parse(record + record.substr(0, cut)), std::pair(std::size_t{1}, false)) << cut;
  }
}

TEST(SegmentRecord, LengthsThatDoNotAddUpAreRefused) {
  EXPECT_FALSE(parse("\x08\x00\x00\x00\x00\x02v\x00\x00"s).second);  // a byte behind the headers
  EXPECT_FALSE(parse("\x06\x00\x00\x00\x00\x02v\x00"s).second);      // headers that lie beyond the record
  EXPECT_FALSE(parse("\x07\x00\x00\x00\x00\x04v\x00"s).second);      // a value longer than its record
  EXPECT_FALSE(parse("\x07\x00\x00\x00\x03v\x00\x00"s + record).second);
  EXPECT_FALSE(parse("\x07\x00\x00\x00\x00\x02v\x01"s + record).second);  // a header that is not there
  EXPECT_FALSE(parse("\x08\x00\x00\x00\x00\x02v\x00"s).second);           // a record longer than its block
  EXPECT_TRUE(parse("\x0b\x00\x00\x00\x00\x02v\x01\x01h\x02w"s).second);
  // A header's value that is longer than its record.
  EXPECT_FALSE(parse("\x0b\x00\x00\x00\x00\x02v\x01\x01h\x03w"s + record).second);
  EXPECT_FALSE(parse("\x00"s).second);
  // A length of 2^64 − 1: a parser that added anything to it would wrap around.
  const std::string longest = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s;
  EXPECT_FALSE(parse(longest + record).second);
  EXPECT_FALSE(parse("\x10\x00\x00\x00\x00"s + longest + "v\x00"s).second);
}

TEST(SegmentRecord, NumbersOfMoreThan64BitsAreRefused) {
  const auto with_time = [](const std::string& time) {
    const std::string body = "\x00\x00"s + time + "\x00\x02v\x00"s;
    return std::string(1, static_cast<char>(body.size())) + body;
  };
  EXPECT_TRUE(parse(with_time("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s)).second);
  EXPECT_FALSE(parse(with_time("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"s)).second);
  EXPECT_FALSE(parse(with_time("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x00"s)).second);
  EXPECT_TRUE(parse(with_time("\x80\x00"s)).second);  // a zero that takes two bytes is still a zero
}

TEST(SegmentRecord, OffsetsNeverGoBack) {
  const std::string far = "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00\x00\x02v\x00"s;  // a gap of 2^64 − 1
  EXPECT_FALSE(parse(far).second);
  // This gap leads to offset 2^64 − 2.
  EXPECT_TRUE(parse("\x10\xf9\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00\x00\x02v\x00"s).second);
  // This gap leads to offset 2^64 − 1.
  EXPECT_FALSE(parse("\x10\xfa\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00\x00\x02v\x00"s).second);
}

TEST(SegmentRecord, KindsOfTimeAreThree) {
  for (char kind = 0; kind < 3; ++kind) EXPECT_TRUE(parse("\x07\x00"s + kind + "\x00\x00\x02v\x00"s).second);
  EXPECT_FALSE(parse("\x07\x00\x03\x00\x00\x02v\x00"s).second);
  EXPECT_FALSE(parse("\x07\x00\xff\x00\x00\x02v\x00"s).second);
}

// --- blocks and marker -------------------------------------------------------------------------------------------

State state_of(const HandMadeSegment& segment) {
  return tests::read_segment(segment.bytes()).state;
}

TEST(SegmentFrames, OffsetsIncreaseFromTheStartToTheStop) {
  const auto two = [](std::uint64_t first, std::uint64_t second) {
    HandMadeSegment segment(header_from(5, 20));
    return segment.block({1, first, first, 0, 0}, record).block({1, second, second, 0, 0}, record);
  };
  const auto ended = [&](HandMadeSegment segment) { return segment.end({2, 2, 20, 2 * record.size()}); };
  EXPECT_EQ(state_of(ended(two(5, 6))), State::end);
  EXPECT_EQ(state_of(ended(two(7, 19))), State::end);
  EXPECT_EQ(state_of(ended(two(4, 6))), State::damaged);
  EXPECT_EQ(state_of(ended(two(7, 7))), State::damaged);
  EXPECT_EQ(state_of(ended(two(7, 6))), State::damaged);
  EXPECT_EQ(state_of(ended(two(7, 20))), State::damaged);
}

TEST(SegmentFrames, TheMarkerCountsWhatIsThere) {
  const auto with = [](const SegmentEnd& end) {
    HandMadeSegment segment(header_from(5));
    return segment.block({1, 5, 5, 0, 0}, record).end(end);
  };
  EXPECT_EQ(state_of(with({1, 1, 6, record.size()})), State::end);
  EXPECT_EQ(state_of(with({1, 1, 9, record.size()})), State::end);
  EXPECT_EQ(state_of(with({2, 1, 6, record.size()})), State::damaged);
  EXPECT_EQ(state_of(with({1, 2, 6, record.size()})), State::damaged);
  EXPECT_EQ(state_of(with({1, 1, 5, record.size()})), State::damaged);
  EXPECT_EQ(state_of(with({1, 1, 6, record.size() + 1})), State::damaged);
}

TEST(SegmentFrames, ContentIsAsLongAsTheBlockSays) {
  for (const std::uint32_t bytes : {7U, 9U, 1U << 17, 1U << 30}) {
    HandMadeSegment segment(header_from(5));
    std::string stored(100, '\0');
    stored.resize(ZSTD_compress(stored.data(), stored.size(), record.data(), record.size(), 1));
    segment.stored_block({1, 5, 5, bytes, 0}, stored);
    EXPECT_EQ(state_of(segment), State::damaged) << bytes;
  }
}

// A long block gets its memory as its bytes arrive, so a file that claims one and ends early takes none.
TEST(SegmentFrames, ALongBlockIsReadWhereverItsFileEnds) {
  std::string value(std::size_t{5} << 20, '\0');
  std::mt19937 random(1);
  for (char& byte : value) byte = static_cast<char>(random());
  const std::string bytes = tests::segment_of(tests::values_from(5, {value}), header_from(5));
  ASSERT_GT(bytes.size(), value.size());
  const tests::SegmentContent whole = tests::read_segment(bytes);
  EXPECT_EQ(whole.state, State::end);
  ASSERT_EQ(whole.messages.size(), 1U);
  EXPECT_EQ(whole.messages[0].value, value);
  for (const std::size_t size : {std::size_t{1} << 20, std::size_t{3} << 20, value.size()}) {
    EXPECT_EQ(tests::read_segment(bytes.substr(0, size)).state, State::cut) << size;
  }
}

class HandMade : public ::testing::Test {
 protected:
  record::RowBatch rows(const HandMadeSegment& segment, std::uint64_t from = 0) {
    InputSettings settings{.files = {folder_.write("segment", segment.bytes())}, .from = from};
    settings.columns = {"a"};
    return tests::read_all(settings, tests::columns({"a"}));
  }
  tests::TemporaryFolder folder_;
};

TEST_F(HandMade, RecordsAreThoseThatTheBlockCounts) {
  const auto with = [&](const SegmentBlock& block) {
    HandMadeSegment segment(header_from(5));
    segment.block(block, record + record).end({1, block.records, 10, 2 * record.size()});
    return rows(segment);
  };
  EXPECT_EQ(with({2, 5, 6, 0, 0}).count(), 2U);
  for (const SegmentBlock& block : {SegmentBlock{1, 5, 5, 0, 0}, SegmentBlock{3, 5, 7, 0, 0},
                                    SegmentBlock{2, 5, 7, 0, 0}, SegmentBlock{1, 5, 6, 0, 0}}) {
    expect_failure(
        Exit::data, [&] { with(block); }, "block of offsets 5 to");
  }
}

// Blocks before the first offset that is wanted are checked, and not decompressed.
TEST_F(HandMade, BlocksThatArePassedAreCheckedAndNotOpened) {
  HandMadeSegment segment(header_from(5));
  segment.stored_block({1, 5, 5, 8, 0}, "no frame").block({1, 6, 6, 0, 0}, record);
  segment.end({2, 2, 7, 8 + record.size()});
  expect_failure(
      Exit::data, [&] { rows(segment); }, "block of offsets 5 to 5");
  EXPECT_EQ(rows(segment, 6).count(), 1U);
}

}  // namespace
}  // namespace nustream::decode
