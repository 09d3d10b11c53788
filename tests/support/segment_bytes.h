// Segments in memory, written by the recorder and read back by the reader.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "decode/segment_reader.h"
#include "recording/segment_writer.h"
#include "simulated_disk.h"
#include "stored_message.h"

namespace nustream::tests {

inline decode::SegmentHeader header_from(std::uint64_t start, std::optional<std::uint64_t> stop = {}) {
  return {.topic = "orders", .cluster = "c", .partition = 3, .start = start, .stop = stop};
}

inline void add(recording::SegmentWriter& writer, const StoredMessage& message) {
  const std::vector<StoredMessage> one{message};
  auto batch = views(one);
  writer.add(batch.messages().front());
}

/// A whole segment of `messages`. A block is closed after every `block` of them, and where one is full.
inline std::string segment_of(const std::vector<StoredMessage>& messages, const decode::SegmentHeader& header,
                              std::size_t block = 1000) {
  SimulatedDisk disk(1);
  auto writer = recording::SegmentWriter::create(disk, "/r/0.segment", header);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    add(writer, messages[i]);
    if ((i + 1) % block == 0) writer.close_block();
  }
  writer.finish(header.stop.value_or(writer.next()));
  return disk.seen("/r/0.segment");
}

/// Bytes in memory as a file.
class TextSource final : public decode::ByteSource {
 public:
  explicit TextSource(std::string text) : text_(std::move(text)) {}
  Result read(std::span<char> buffer) override {
    const std::size_t count = text_.copy(buffer.data(), buffer.size(), at_);
    at_ += count;
    return {.bytes = count, .end = count == 0};
  }
  [[nodiscard]] bool ready(int) override { return true; }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept override { return at_; }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

/// What a reader makes of some bytes: the messages of the whole blocks before whatever ended it.
struct SegmentContent {
  std::vector<StoredMessage> messages;
  decode::SegmentReader::State state = decode::SegmentReader::State::damaged;
  bool header = false;  ///< the header was sound
  bool torn = false;    ///< the tail is torn, where the segment is neither whole nor damaged elsewhere
};

inline SegmentContent read_segment(const std::string& bytes) {
  using State = decode::SegmentReader::State;
  SegmentContent content;
  try {
    decode::SegmentReader reader(std::make_unique<TextSource>(bytes), "bytes");
    content.header = true;
    while ((content.state = reader.advance()) == State::block) {
      decode::MessageBatch batch;
      decode::RecordParser records = reader.records();
      while (!records.at_end()) {
        if (!records.next(batch)) throw reader.failure_in_block();
      }
      for (const decode::Message& message : batch.messages()) content.messages.push_back(stored(message));
    }
    content.torn = content.state != State::end && reader.is_torn_tail();
  } catch (const Failure&) {
    // The header is not sound.
  }
  return content;
}

}  // namespace nustream::tests
