// The format of a recorded segment, field by field, and its records as rows.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "decode/reader.h"
#include "decode_rows.h"
#include "expect_failure.h"
#include "nustream/record/timestamp.h"
#include "secrets/hex.h"
#include "segment_bytes.h"
#include "temporary_folder.h"

namespace nustream::decode {
namespace {

using tests::columns;
using tests::expect_failure;
using tests::header_from;
using tests::segment_of;
using tests::StoredMessage;
using tests::values_from;

std::string hex(const std::string& bytes) {
  return secrets::to_hex(std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
}

// --- bytes -------------------------------------------------------------------------------------------------------

TEST(SegmentFormat, HeaderIsLaidOutAsOnItsPage) {
  const std::string bytes = encode(SegmentHeader{"ab", "xyz", 7, 0x0102, 0x0304});
  EXPECT_EQ(hex(bytes),
            "4e555345474d5400"  // NUSEGMT and zero
            "01000000"          // format
            "22000000"          // 34 bytes
            "07000000"
            "0201000000000000"  // partition, start
            "01"
            "0403000000000000"  // bounded, stop
            "02000000"
            "6162"  // topic
            "03000000"
            "78797a");  // cluster
  EXPECT_EQ(parse_segment_prefix(bytes.substr(0, segment_prefix_bytes)), 34U);
  EXPECT_EQ(parse_segment_fields(bytes.substr(segment_prefix_bytes)),
            (SegmentHeader{"ab", "xyz", 7, 0x0102, 0x0304}));
}

TEST(SegmentFormat, RecordIsLaidOutAsOnItsPage) {
  RecordBefore before{1000, 5};
  std::string content;
  const MessageHeader headers[] = {{"h", "v"}, {"", std::nullopt}};
  append_record({1002, 3, TimeKind::broker, std::string_view(""), std::string_view("ab"), headers}, before, content);
  EXPECT_EQ(hex(content),
            "0e"  // 14 bytes
            "02"  // two offsets left out
            "02"
            "03"  // append time, 2 ms before: zigzag of −2
            "01"  // an empty key
            "03"
            "6162"  // ab
            "02"    // two headers
            "01"
            "68"
            "02"
            "76"
            "00"
            "00");  // no name, nothing
  EXPECT_EQ(before.next, 1003U);
  content.clear();
  append_record({2000, 300, TimeKind::none, std::nullopt, std::string_view(""), {}}, before, content);
  EXPECT_EQ(hex(content),
            "08"
            "e507"  // 997 left out
            "00"
            "d204"  // 297 ms later
            "00"    // no key
            "01"
            "00");
}

TEST(SegmentFormat, ChecksAreTheRunningHashOfTheFile) {
  const std::string bytes = segment_of(values_from(5, {"1", "2"}), header_from(5));
  const std::size_t header = segment_prefix_bytes + parse_segment_prefix(bytes.substr(0, segment_prefix_bytes));
  for (const std::size_t at : {header, header + 16 + 32, bytes.size() - 16 - 48, bytes.size() - 16}) {
    const journal::Hash hash = journal::hash_of(bytes.substr(0, at));
    EXPECT_EQ(hex(bytes.substr(at, 16)), secrets::to_hex(std::span(hash).first(16))) << at;
  }
}

TEST(SegmentFormat, FramesOutOfRangeAreNone) {
  const SegmentBlock good{2, 10, 11, 5, 5};
  EXPECT_EQ(std::get<SegmentBlock>(parse_segment_frame(encode(good))), good);
  for (const SegmentBlock& bad :
       {SegmentBlock{0, 10, 11, 5, 5}, SegmentBlock{2, 10, 10, 5, 5}, SegmentBlock{2, 11, 10, 5, 5},
        SegmentBlock{2, 10, 11, 0, 5}, SegmentBlock{2, 10, 11, 5, 0}, SegmentBlock{2, 10, UINT64_MAX, 5, 5},
        SegmentBlock{2, 10, 11, 5, 3}, SegmentBlock{2, 10, 11, (1U << 17) + 1, 7},
        SegmentBlock{2, 10, 11, (1U << 30) + 1, 1U << 20}}) {
    EXPECT_EQ(parse_segment_frame(encode(bad)).index(), 0U);
  }
  EXPECT_EQ(parse_segment_frame(std::string(32, '\0')).index(), 0U);
  EXPECT_EQ(parse_segment_frame(encode(good).substr(1)).index(), 0U);
}

// --- rows --------------------------------------------------------------------------------------------------------

InputSettings settings_for(const std::string& file) {
  InputSettings settings{.files = {file}};
  settings.columns = {"a"};
  return settings;
}

class Segment : public ::testing::Test {
 protected:
  // Messages at offsets 100, 101, 103, 107 (unusable) and 110, with the values 0 … 4.
  static std::vector<StoredMessage> messages() {
    std::vector<StoredMessage> stored = values_from(100, {"0", "1", "2", "x", "4"});
    const std::uint64_t offsets[] = {100, 101, 103, 107, 110};
    for (std::size_t i = 0; i < stored.size(); ++i) {
      stored[i].offset = offsets[i];
      stored[i].milliseconds = 1000 * static_cast<std::int64_t>(i);
      stored[i].time_kind = TimeKind::broker;
    }
    return stored;
  }
  std::string write(const std::string& bytes) { return folder_.write("any name.csv", bytes); }
  std::string write() { return write(segment_of(messages(), header_from(90, 120), 2)); }

  tests::TemporaryFolder folder_;
};

TEST_F(Segment, IsToldByItsFirstBytesAndItsOffsetsArePositions) {
  const auto batch = tests::read_all(settings_for(write()), columns({"a"}), 2);
  EXPECT_EQ(batch.x, (std::vector<double>{0, 1, 2, 0, 4}));
  EXPECT_EQ(batch.next, (std::vector<std::uint64_t>{101, 102, 104, 108, 111}));
  ASSERT_EQ(batch.rejects.size(), 1U);
  EXPECT_EQ(batch.rejects[0].position, Position{107});
}

TEST_F(Segment, FromAndToAreOffsets) {
  InputSettings settings = settings_for(write());
  const std::vector<std::uint64_t> offsets{100, 101, 103, 107, 110};
  for (std::uint64_t from = 90; from < 113; ++from) {
    for (std::uint64_t to = 90; to < 113; ++to) {
      settings.from = from;
      settings.to = to;
      std::vector<std::uint64_t> expected;
      for (const std::uint64_t offset : offsets) {
        if (offset >= from && offset < to) expected.push_back(offset + 1);
      }
      EXPECT_EQ(tests::read_all(settings, columns({"a"}), 1 + from % 3).next, expected) << from << " " << to;
    }
  }
}

TEST_F(Segment, RecordsThatItDoesNotHoldAreRefused) {
  InputSettings settings = settings_for(write());
  settings.from = 89;
  expect_failure(
      Exit::data, [&] { static_cast<void>(open_reader(settings, columns({"a"}))); }, "from offset 90 on");
}

TEST_F(Segment, OfAnotherPartitionIsRefused) {
  InputSettings settings = settings_for(write());
  settings.partition = 3;
  EXPECT_EQ(tests::read_all(settings, columns({"a"})).count(), 5U);
  settings.partition = 0;
  expect_failure(
      Exit::data, [&] { static_cast<void>(open_reader(settings, columns({"a"}))); }, "partition 3 of topic orders");
}

TEST_F(Segment, IsReadAloneAndFromAFile) {
  InputSettings settings = settings_for(write());
  settings.files.push_back(folder_.write("b.csv", "1\n"));
  expect_failure(
      Exit::usage, [&] { static_cast<void>(open_reader(settings, columns({"a"}))); }, "alone");
  const std::string pipe = (folder_.path() / "pipe").string();
  ASSERT_EQ(std::system(("mkfifo '" + pipe + "' && cat '" + settings.files[0] + "' > '" + pipe + "' &").c_str()), 0);
  while (!std::filesystem::exists(pipe)) {
  }
  InputSettings piped = settings_for(pipe);
  piped.header = false;
  expect_failure(
      Exit::data, [&] { tests::read_all(piped, columns({"a"})); },
      "cannot be read from a pipe or beside other files");
}

TEST_F(Segment, OfJsonKeysAndHeaders) {
  const std::vector<StoredMessage> stored = {
      {.offset = 1,
       .key = "5",
       .value = R"({"a":1})",
       .headers = {{"h", "7"}},
       .milliseconds = 1,
       .time_kind = TimeKind::producer},
      {.offset = 2, .key = "6", .value = std::nullopt, .headers = {}},
      {.offset = 3, .key = "8", .value = R"({"a":2})", .headers = {{"h", "9"}}}};
  InputSettings settings{.files = {write(segment_of(stored, header_from(0)))}, .format = Format::json_lines};
  settings.time_column = "@timestamp";
  const auto batch = tests::read_all(settings, columns({"@key", "@header:h"}, "a"));
  EXPECT_EQ(batch.x, (std::vector<double>{5, 7, 0, 0, 8, 9}));
  EXPECT_EQ(batch.y, (std::vector<double>{1, 0, 2}));
  EXPECT_EQ(batch.times[0], .001);
  EXPECT_TRUE(std::isnan(batch.times[1]));
}

TEST_F(Segment, WithoutRecordsIsNoFailure) {
  EXPECT_EQ(tests::read_all(settings_for(write(segment_of({}, header_from(5)))), columns({"a"})).count(), 0U);
}

TEST_F(Segment, OfWhichTheEndIsMissingGivesItsWholeBlocksThenFails) {
  const std::string whole = segment_of(messages(), header_from(90), 2);
  for (const std::size_t missing : {1U, 48U, 60U}) {
    const InputSettings settings = settings_for(write(whole.substr(0, whole.size() - missing)));
    const auto reader = open_reader(settings, columns({"a"}));
    record::RowBatch batch;
    while (batch.count() < (missing <= 48 ? 5U : 4U)) ASSERT_TRUE(reader->read(batch, 100));
    expect_failure(
        Exit::io, [&] { reader->read(batch, 100); }, missing <= 48 ? "before offset 111" : "before offset 108");
    EXPECT_EQ(batch.count(), missing <= 48 ? 5U : 4U);
  }
  // What stands behind the last record that is wanted is not looked at, so the file may be cut there.
  InputSettings settings = settings_for(write(whole.substr(0, whole.size() - 60)));
  settings.to = 108;
  EXPECT_EQ(tests::read_all(settings, columns({"a"})).count(), 4U);
}

TEST_F(Segment, DamageIsNamedByItsOffsets) {
  const std::string whole = segment_of(messages(), header_from(90), 2);
  std::string bytes = whole;
  bytes[bytes.size() - 48 - 20] ^= 1;  // a byte of the last block's records
  const auto read = [&] { tests::read_all(settings_for(write(bytes)), columns({"a"})); };
  expect_failure(Exit::data, read, "block of offsets 110 to 110");
  bytes = whole + "x";
  expect_failure(Exit::data, read, "behind its end at offset 111");
  bytes = whole;
  bytes[bytes.size() - 40] ^= 1;  // a byte of the end marker
  expect_failure(Exit::data, read, "from offset 111 on");
  bytes = whole;
  bytes[20] ^= 1;
  expect_failure(Exit::data, read, "header");
  bytes = whole;
  bytes[8] = 2;
  expect_failure(Exit::data, read, "another format");
}

// --- questions about the whole -----------------------------------------------------------------------------------

TEST_F(Segment, PositionsForSeveralPassesMustHaveNoGaps) {
  EXPECT_EQ(first_position(settings_for(write())), 90U);
  expect_failure(
      Exit::data, [&] { static_cast<void>(all_positions(settings_for(write()))); }, "offset 90");
  const InputSettings tight = settings_for(write(segment_of(values_from(90, {"1", "2", "3"}), header_from(90), 2)));
  EXPECT_EQ(all_positions(tight).first, 90U);
  EXPECT_EQ(all_positions(tight).end, 93U);
  const InputSettings lines{.files = {folder_.write("a.csv", "a\n1\n2\n")}};
  EXPECT_EQ(first_position(lines), 0U);
  EXPECT_EQ(all_positions(lines).first, 0U);
  EXPECT_EQ(all_positions(lines).end, 2U);
}

TEST_F(Segment, TimesOfTheBrokerArePublic) {
  const InputSettings settings = settings_for(write());
  EXPECT_EQ(ordinal_at_or_after(settings, -1), 100U);
  EXPECT_EQ(ordinal_at_or_after(settings, 1), 101U);
  EXPECT_EQ(ordinal_at_or_after(settings, 1.001), 103U);
  EXPECT_EQ(ordinal_at_or_after(settings, 4), 110U);
  EXPECT_EQ(ordinal_at_or_after(settings, 4.5), 120U);  // the offset at which the recording ends
}

TEST_F(Segment, TimesOfProducersMustBeDeclared) {
  std::vector<StoredMessage> stored = messages();
  for (StoredMessage& message : stored) message.time_kind = TimeKind::producer;
  stored[1].time_kind = TimeKind::none;
  InputSettings settings = settings_for(write(segment_of(stored, header_from(90))));
  expect_failure(
      Exit::configuration, [&] { static_cast<void>(ordinal_at_or_after(settings, 1)); }, "times_public");
  settings.times_public = true;
  EXPECT_EQ(ordinal_at_or_after(settings, 1), 103U);  // the record without a time is passed over
}

}  // namespace
}  // namespace nustream::decode
