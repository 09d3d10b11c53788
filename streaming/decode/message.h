// A record of a log in the form in which it was stored: a broker hands it out so, and a recorded segment keeps it so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nustream::decode {

/// Whose clock a message's time was read from.
enum class TimeKind : std::uint8_t {
  none = 0,      ///< the log keeps no times
  producer = 1,  ///< the time of the message's creation, which is a field of the record like any other
  broker = 2,    ///< the time of the message's append, which is public as arrivals are
};

/// A header of a message. Names may repeat; the first header of a name counts.
struct MessageHeader {
  std::string_view name;
  std::optional<std::string_view> value;  ///< empty where it is null
};

/// One message. Its bytes belong to the object that made it.
struct Message {
  std::uint64_t offset = 0;       ///< increases within a partition, not always by one
  std::int64_t milliseconds = 0;  ///< since 1970-01-01T00:00:00Z; without meaning where time_kind is none
  TimeKind time_kind = TimeKind::none;
  std::optional<std::string_view> key{};    ///< empty where it is null
  std::optional<std::string_view> value{};  ///< empty where it is null: the message is a tombstone
  std::span<const MessageHeader> headers{};
};

/// Messages on their way to a decoder or a recording, and the memory for their lists of headers, which is used again
/// after clear().
class MessageBatch {
 public:
  void clear() noexcept {
    messages_.clear();
    headers_.clear();
    header_ends_.clear();
  }
  /// Adds a message. Its headers are those that add_header() adds from here to the next add().
  void add(const Message& message) {
    messages_.push_back(message);
    header_ends_.push_back(headers_.size());
  }
  void add_header(const MessageHeader& header) {
    headers_.push_back(header);
    header_ends_.back() = headers_.size();
  }

  [[nodiscard]] std::size_t count() const noexcept { return messages_.size(); }
  /// All messages, valid until the next change.
  [[nodiscard]] std::span<const Message> messages();

 private:
  std::vector<Message> messages_;
  std::vector<MessageHeader> headers_;    // headers of all messages, one after the other
  std::vector<std::size_t> header_ends_;  // for each message, the place behind its last header
};

/// A record's bytes in the input, by which it is recognised again (docs/formats/state.md, seen).
struct ReadRecord {
  std::uint64_t position = 0;  ///< its ordinal or offset
  std::string bytes;           ///< of a line: without its newline, at most record_bytes_max
};

/// The bytes of a message: its time, key and value. Two messages that differ in one of these have different bytes.
[[nodiscard]] std::string bytes_of(const Message& message);

}  // namespace nustream::decode
