// A recording of one partition: how it is begun, continued and ended.
#include "recording/segment_writer.h"

#include <gtest/gtest.h>

#include <string>

#include "expect_failure.h"
#include "segment_bytes.h"
#include "temporary_folder.h"

namespace nustream::recording {
namespace {

using decode::SegmentReader;
using tests::add;
using tests::expect_failure;
using tests::header_from;
using tests::read_segment;
using tests::SimulatedDisk;
using tests::StoredMessage;
using tests::values_from;

const journal::Disk::Path path = "/r/0.segment";

TEST(SegmentWriter, KeepsEveryPartOfAMessage) {
  const std::vector<StoredMessage> messages = {
      {.offset = 7,
       .key = "k",
       .value = "v",
       .headers = {{"a", "1"}, {"a", std::nullopt}, {"", ""}},
       .milliseconds = 5,
       .time_kind = decode::TimeKind::broker},
      {.offset = 9, .key = "", .value = ""},
      {.offset = 10,
       .key = std::nullopt,
       .value = std::nullopt,
       .milliseconds = INT64_MIN,
       .time_kind = decode::TimeKind::producer},
      {.offset = UINT64_MAX - 2, .value = std::string(3'000'000, '\n'), .milliseconds = INT64_MAX},
  };
  const auto content = read_segment(tests::segment_of(messages, header_from(0)));
  EXPECT_EQ(content.messages, messages);
  EXPECT_EQ(content.state, SegmentReader::State::end);
}

TEST(SegmentWriter, ABlockIsWrittenWhenItIsFull) {
  SimulatedDisk disk(1);
  auto writer = SegmentWriter::create(disk, path, header_from(0));
  const std::size_t empty = disk.seen(path).size();
  for (std::uint64_t i = 0; i < 9; ++i) add(writer, {.offset = i, .value = std::string(100'000, 'x')});
  EXPECT_EQ(disk.seen(path).size(), empty);
  add(writer, {.offset = 9, .value = std::string(200'000, 'x')});
  EXPECT_GT(disk.seen(path).size(), empty);
  EXPECT_EQ(disk.durable(path), disk.seen(path));
  EXPECT_EQ(read_segment(disk.seen(path)).messages.size(), 9U);
  EXPECT_EQ(writer.records(), 10U);
  EXPECT_EQ(writer.next(), 10U);
  writer.close_block();
  EXPECT_EQ(writer.bytes(), disk.seen(path).size());
  EXPECT_EQ(read_segment(disk.seen(path)).messages.size(), 10U);
}

TEST(SegmentWriter, IsForTheOperatorAlone) {
  const tests::TemporaryFolder folder;
  const auto disk = journal::posix_disk();
  auto writer = SegmentWriter::create(*disk, folder.path() / "0.segment", header_from(0));
  writer.finish(5);
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(folder.path() / "0.segment").permissions(),
            perms::owner_read | perms::owner_write);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "0.segment.new"));
  EXPECT_EQ(read_segment(tests::read_file(folder.path() / "0.segment")).state, SegmentReader::State::end);
}

TEST(SegmentWriter, NeverWritesOverARecording) {
  SimulatedDisk disk(1);
  SegmentWriter::create(disk, path, header_from(0)).finish(0);
  expect_failure(
      Exit::data, [&] { static_cast<void>(SegmentWriter::create(disk, path, header_from(0))); }, "--resume");
  expect_failure(
      Exit::data, [&] { static_cast<void>(SegmentWriter::resume(disk, "/r/1.segment")); }, "no such recording");
}

TEST(SegmentWriter, RefusesOffsetsThatGoBackOrPassTheStop) {
  SimulatedDisk disk(1);
  auto writer = SegmentWriter::create(disk, path, header_from(5, 10));
  expect_failure(
      Exit::data, [&] { add(writer, {.offset = 4}); }, "offset 4 where 5 was next");
  add(writer, {.offset = 7});
  expect_failure(
      Exit::data, [&] { add(writer, {.offset = 7}); }, "offset 7 where 8 was next");
  expect_failure(
      Exit::data, [&] { add(writer, {.offset = 10}); }, "offset 10");
  writer.finish(10);
  expect_failure(Exit::data, [&] { add(writer, {.offset = 9}); });
}

TEST(SegmentWriter, AnEndedRecordingWithoutAStopCanBeGoneOnWith) {
  SimulatedDisk disk(1);
  {
    auto writer = SegmentWriter::create(disk, path, header_from(0));
    add(writer, {.offset = 0, .value = "a"});
    writer.finish(4);  // offsets 1 to 3 stand for control records
  }
  auto writer = SegmentWriter::resume(disk, path);
  EXPECT_EQ(writer.header(), header_from(0));
  EXPECT_FALSE(writer.finished());
  EXPECT_EQ(writer.next(), 4U);
  EXPECT_EQ(writer.records(), 1U);
  add(writer, {.offset = 4, .value = "b"});
  writer.finish(5);
  const auto content = read_segment(disk.seen(path));
  EXPECT_EQ(content.state, SegmentReader::State::end);
  EXPECT_EQ(content.messages.size(), 2U);
}

TEST(SegmentWriter, GoingOnWithoutWritingChangesNothing) {
  SimulatedDisk disk(1);
  {
    auto writer = SegmentWriter::create(disk, path, header_from(0));
    add(writer, {.offset = 0, .value = "a"});
    writer.finish(4);
  }
  const std::string before = disk.seen(path);
  {
    auto writer = SegmentWriter::resume(disk, path);
    add(writer, {.offset = 7, .value = "b"});
  }
  EXPECT_EQ(disk.seen(path), before);
}

TEST(SegmentWriter, ARecordingThatReachedItsStopStaysAsItIs) {
  SimulatedDisk disk(1);
  {
    auto writer = SegmentWriter::create(disk, path, header_from(0, 3));
    add(writer, {.offset = 0, .value = "a"});
    writer.finish(3);
  }
  const std::string before = disk.seen(path);
  const auto writer = SegmentWriter::resume(disk, path);
  EXPECT_TRUE(writer.finished());
  EXPECT_EQ(writer.next(), 3U);
  EXPECT_EQ(writer.bytes(), before.size());
  EXPECT_EQ(disk.seen(path), before);
}

// Blocks of two records each, without an end marker: the recording of a process that was killed.
std::string killed(std::size_t count) {
  SimulatedDisk disk(1);
  auto writer = SegmentWriter::create(disk, path, header_from(0));
  for (std::size_t i = 0; i < count; ++i) {
    add(writer, {.offset = i, .value = std::to_string(i)});
    if (i % 2 == 1) writer.close_block();
  }
  return disk.seen(path);
}

TEST(SegmentWriter, ATornTailIsCutWhereverItTore) {
  const std::string two = killed(4), three = killed(6);
  for (std::size_t size = two.size(); size <= three.size(); ++size) {
    for (const bool nul : {false, true}) {
      SimulatedDisk disk(1);
      std::string torn = three.substr(0, size);
      if (nul) torn.resize(three.size(), '\0');  // the length reached the disk, and the bytes did not
      disk.tamper(path, torn);
      auto writer = SegmentWriter::resume(disk, path);
      const bool all = size == three.size();
      ASSERT_EQ(writer.next(), all ? 6U : 4U) << size;
      ASSERT_EQ(disk.seen(path), torn) << size;  // until a new record takes the place of the torn one
      if (all) continue;
      add(writer, {.offset = 4, .value = "4"});
      add(writer, {.offset = 5, .value = "5"});
      writer.close_block();
      ASSERT_EQ(disk.seen(path), three) << size;
    }
  }
}

TEST(SegmentWriter, AnEndMarkerTornInItsLastBytesIsCut) {
  SimulatedDisk disk(1);
  {
    auto writer = SegmentWriter::create(disk, path, header_from(1000));
    add(writer, {.offset = 1000, .value = "a"});
    writer.finish(1001);
  }
  std::string bytes = disk.seen(path);
  bytes.replace(bytes.size() - 5, 5, 5, '\0');
  disk.tamper(path, bytes);
  SegmentWriter::resume(disk, path).finish(1002);
  EXPECT_EQ(disk.seen(path).size(), bytes.size());
  EXPECT_EQ(read_segment(disk.seen(path)).state, SegmentReader::State::end);
}

TEST(SegmentWriter, DamageIsNoTornTailAndNothingIsCut) {
  const std::string three = killed(6);
  const std::size_t second = killed(4).size(), first = killed(2).size();
  // Damage in the second of three blocks, or in the header, is never cut off as a torn end.
  for (std::size_t at = 8; at < second; ++at) {
    if (at == first) at = first + 1;
    SimulatedDisk disk(1);
    std::string bytes = three;
    bytes[at] ^= 0x10;
    disk.tamper(path, bytes);
    expect_failure(
        Exit::data, [&] { static_cast<void>(SegmentWriter::resume(disk, path)); }, "damaged");
    ASSERT_EQ(disk.seen(path), bytes) << at;
  }
}

}  // namespace
}  // namespace nustream::recording
