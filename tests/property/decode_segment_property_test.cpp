// Random segments: a reader gets the messages that were written, and no damage, cut or invented content gives it
// another record.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "decode/reader.h"
#include "decode/segment_record.h"
#include "decode_rows.h"
#include "error.h"
#include "random_messages.h"
#include "segment_bytes.h"
#include "temporary_folder.h"

namespace nustream::decode {
namespace {

using tests::header_from;
using tests::random_messages;
using tests::read_segment;
using tests::segment_of;
using tests::SegmentContent;
using tests::StoredMessage;
using Random = std::mt19937_64;
using State = SegmentReader::State;

bool is_prefix(const std::vector<StoredMessage>& some, const std::vector<StoredMessage>& all) {
  return some.size() <= all.size() && std::equal(some.begin(), some.end(), all.begin());
}

TEST(SegmentProperty, WhatWasWrittenIsRead) {
  Random random(51);
  for (int i = 0; i < 150; ++i) {
    const std::uint64_t start = random() % 3 == 0 ? random() >> 2 : random() % 100;
    const std::vector<StoredMessage> messages =
        random_messages(random, start, random() % 200, random() % 10 == 0 ? 300'000 : 500);
    const SegmentContent content = read_segment(segment_of(messages, header_from(start), 1 + random() % 100));
    ASSERT_EQ(content.state, State::end);
    ASSERT_EQ(content.messages, messages);
  }
}

// A record whose key, value and headers look like a segment is a record like any other.
TEST(SegmentProperty, ASegmentInsideASegment) {
  Random random(52);
  std::vector<StoredMessage> messages = random_messages(random, 5, 20);
  messages.back().value = segment_of(messages, header_from(5), 3);
  EXPECT_EQ(read_segment(segment_of(messages, header_from(5), 4)).messages, messages);
}

TEST(SegmentProperty, EveryFlippedBitIsFoundAndGivesNoOtherRecord) {
  Random random(53);
  const std::vector<StoredMessage> messages = random_messages(random, 5, 12, 20);
  const std::string whole = segment_of(messages, header_from(5, messages.back().offset + 1), 4);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      const SegmentContent content = read_segment(bytes);
      ASSERT_FALSE(content.header && content.state == State::end) << at << " " << bit;
      ASSERT_TRUE(is_prefix(content.messages, messages)) << at << " " << bit;
      ASSERT_EQ(content.messages.size() % 4, 0U);  // whole blocks
    }
  }
}

TEST(SegmentProperty, CutAnywhereItGivesWholeBlocksAndIsKnownToBeCut) {
  Random random(54);
  const std::vector<StoredMessage> messages = random_messages(random, 5, 12, 20);
  const std::string whole = segment_of(messages, header_from(5), 4);
  std::size_t before = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const SegmentContent content = read_segment(whole.substr(0, size));
    if (!content.header) {
      ASSERT_LT(size, 100U);
      continue;
    }
    ASSERT_EQ(content.state, State::cut) << size;
    ASSERT_TRUE(content.torn);
    ASSERT_TRUE(is_prefix(content.messages, messages)) << size;
    ASSERT_GE(content.messages.size(), before);
    before = content.messages.size();
  }
  ASSERT_EQ(before, messages.size());
}

TEST(SegmentProperty, BlocksLeftOutRepeatedSwappedOrOfAnotherFileAreFound) {
  Random random(55);
  const std::vector<StoredMessage> messages = random_messages(random, 5, 12, 20);
  const std::string whole = segment_of(messages, header_from(5), 4);
  std::vector<std::size_t> ends{segment_of({}, header_from(5)).size() - 48};
  for (const std::size_t count : {4U, 8U, 12U}) {
    const std::vector<StoredMessage> some(messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(count));
    ends.push_back(segment_of(some, header_from(5), 4).size() - 48);
  }
  const auto part = [&](std::size_t i) { return whole.substr(ends[i], ends[i + 1] - ends[i]); };
  const std::string head = whole.substr(0, ends[0]), tail = whole.substr(ends[3]);
  ASSERT_EQ(head + part(0) + part(1) + part(2) + tail, whole);
  SegmentHeader other = header_from(5);
  other.topic = "Orders";
  const std::string foreign = segment_of(messages, other, 4).substr(0, ends[0]);
  for (const std::string& bytes :
       {head + part(1) + part(2) + tail, head + part(0) + part(2) + tail, head + part(0) + part(1) + tail,
        head + part(0) + part(0) + part(1) + tail, head + part(1) + part(0) + part(2) + tail, head + tail,
        foreign + part(0) + part(1) + part(2) + tail, whole + tail, whole + part(0)}) {
    const SegmentContent content = read_segment(bytes);
    ASSERT_TRUE(content.header);
    ASSERT_EQ(content.state, State::damaged);
    ASSERT_TRUE(is_prefix(content.messages, messages));
  }
}

// Content that no writer wrote, under checksums that fit, is parsed without reading beyond its end; the sanitizers
// would see that.
TEST(SegmentProperty, AnyBytesCanBeParsedAsRecords) {
  Random random(56);
  for (int i = 0; i < 30'000; ++i) {
    std::string content;
    if (random() % 2 == 0) {
      content = tests::random_bytes(random, 60);
    } else {
      RecordBefore before{5, 0};
      const std::vector<StoredMessage> messages = random_messages(random, 5, 1 + random() % 3, 20);
      auto views = tests::views(messages);
      for (const Message& message : views.messages()) append_record(message, before, content);
      for (std::uint64_t edits = 1 + random() % 3; edits > 0; --edits) {
        content[random() % content.size()] = static_cast<char>(random());
      }
      content.resize(random() % (content.size() + 1));
    }
    // Exactly as large as the content, so that one byte beyond is out of bounds.
    const auto memory = std::make_unique<char[]>(content.size());
    std::copy(content.begin(), content.end(), memory.get());
    RecordParser parser({memory.get(), content.size()}, 5);
    MessageBatch batch;
    while (!parser.at_end() && parser.next(batch)) {
    }
    std::uint64_t offset = 5;
    std::size_t bytes = 0;
    for (const Message& message : batch.messages()) {
      ASSERT_GE(message.offset, offset);
      offset = message.offset + 1;
      bytes += (message.value ? message.value->size() : 0) + (message.key ? message.key->size() : 0);
    }
    ASSERT_LE(bytes, content.size());
  }
}

TEST(SegmentProperty, AnyBytesCanBeReadAsASegment) {
  Random random(57);
  const std::string whole = segment_of(random_messages(random, 5, 9, 20), header_from(5), 4);
  for (int i = 0; i < 5000; ++i) {
    std::string bytes = whole;
    for (std::uint64_t edits = 1 + random() % 4; edits > 0; --edits) {
      const std::size_t at = random() % bytes.size();
      const std::string piece = tests::random_bytes(random, 40);
      bytes.replace(at, std::min(random() % 40, bytes.size() - at), piece);
    }
    const SegmentContent content = read_segment(bytes);
    if (bytes != whole) {
      ASSERT_FALSE(content.header && content.state == State::end);
    }
  }
}

// --- as rows -----------------------------------------------------------------------------------------------------

// The rows of a segment are those of a file whose lines are the segment's values.
TEST(SegmentProperty, RowsAreThoseOfAFileOfItsValues) {
  Random random(58);
  const tests::TemporaryFolder folder;
  for (int i = 0; i < 60; ++i) {
    const std::uint64_t start = 1 + random() % 100;
    std::vector<StoredMessage> messages = random_messages(random, start, 1 + random() % 3000, 10);
    std::string lines = "a,b\n";
    for (StoredMessage& message : messages) {
      message.value = std::to_string(random() % 1000) + "," + (random() % 20 == 0 ? "bad" : std::to_string(random()));
      lines += *message.value;
      lines += '\n';
    }
    const record::Schema schema = tests::columns({"b"}, "a");
    const auto expected = tests::read_all({.files = {folder.write("a.csv", lines)}}, schema);
    InputSettings settings{
        .files = {folder.write("segment", segment_of(messages, header_from(start), 1 + random() % 900))}};
    settings.columns = {"a", "b"};
    const auto rows = tests::read_all(settings, schema, 1 + random() % 600);
    ASSERT_EQ(rows.x, expected.x);
    ASSERT_EQ(rows.y, expected.y);
    for (std::size_t m = 0; m < messages.size(); ++m) ASSERT_EQ(rows.next[m], messages[m].offset + 1);
    ASSERT_EQ(rows.rejects.size(), expected.rejects.size());
    for (std::size_t r = 0; r < rows.rejects.size(); ++r) {
      ASSERT_EQ(rows.rejects[r].position.value(), messages[expected.rejects[r].position.value()].offset);
      ASSERT_EQ(rows.rejects[r].reason, expected.rejects[r].reason);
    }
    // Reading from any offset gives the rest of the rows.
    const std::size_t skipped = random() % messages.size();
    settings.from = messages[skipped].offset;
    const auto rest = tests::read_all(settings, schema, 1 + random() % 600);
    ASSERT_EQ(rest.next,
              std::vector<std::uint64_t>(rows.next.begin() + static_cast<std::ptrdiff_t>(skipped), rows.next.end()));
    ASSERT_EQ(rest.y, std::vector<double>(rows.y.begin() + static_cast<std::ptrdiff_t>(skipped), rows.y.end()));
  }
}

}  // namespace
}  // namespace nustream::decode
