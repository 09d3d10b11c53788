// A record as bytes, relative to the record before it: offsets by their gap, times by their difference. Numbers take
// seven bits a byte, the lowest first, and the top bit says that more follow, as in protocol buffers.
#include "decode/segment_record.h"

#include <optional>

namespace nustream::decode {
namespace {

constexpr std::size_t number_bytes_max = 10;  // 64 bits, seven in each byte
constexpr unsigned char more = 0x80;

/// Appends a number in groups of seven bits. For example 300 is the bytes 0xac 0x02.
void append_number(std::uint64_t number, std::string& out) {
  for (; number >= more; number >>= 7) out += static_cast<char>((number & 0x7f) | more);
  out += static_cast<char>(number);
}

/// How many bytes append_number() appends.
std::size_t number_bytes(std::uint64_t number) noexcept {
  std::size_t bytes = 1;
  for (; number >= more; number >>= 7) ++bytes;
  return bytes;
}

void append_bytes(std::string_view bytes, std::string& out) {
  append_number(bytes.size(), out);
  out += bytes;
}

/// Null is 0, and n bytes are n + 1, so that an empty value differs from no value.
void append_bytes_or_nothing(const std::optional<std::string_view>& bytes, std::string& out) {
  append_number(bytes ? bytes->size() + 1 : 0, out);
  if (bytes) out += *bytes;
}

std::size_t bytes_or_nothing_size(const std::optional<std::string_view>& bytes) noexcept {
  return bytes ? number_bytes(bytes->size() + 1) + bytes->size() : 1;
}

// Codes differences of times as unsigned numbers that are small where the difference is small, whatever its sign.
// They wrap around.
std::uint64_t zigzag(std::uint64_t difference) noexcept {
  return (difference << 1) ^ (0 - (difference >> 63));
}
std::uint64_t unzigzag(std::uint64_t coded) noexcept {
  return (coded >> 1) ^ (0 - (coded & 1));
}

/// The length of a record without the number that says it. It must count exactly what append_record() appends.
std::size_t body_bytes(const Message& message, std::uint64_t gap, std::uint64_t time) noexcept {
  std::size_t bytes = number_bytes(gap) + 1 + number_bytes(time) + bytes_or_nothing_size(message.key) +
                      bytes_or_nothing_size(message.value) + number_bytes(message.headers.size());
  for (const MessageHeader& header : message.headers) {
    bytes += number_bytes(header.name.size()) + header.name.size() + bytes_or_nothing_size(header.value);
  }
  return bytes;
}

// Takes fields from the front of some bytes. Once a field was missing, sound() stays false.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] bool sound() const noexcept { return sound_; }
  [[nodiscard]] std::string_view rest() const noexcept { return rest_; }

  // Takes a number; one with more than 64 bits is not sound.
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < number_bytes_max && i < rest_.size(); ++i) {
      const auto byte = static_cast<unsigned char>(rest_[i]);
      // The tenth byte holds the last of 64 bits.
      if (i + 1 == number_bytes_max && byte > 1) break;  // more than 64 bits
      value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
      if ((byte & more) != 0) continue;
      rest_.remove_prefix(i + 1);
      return value;
    }
    sound_ = false;
    return 0;
  }
  std::string_view bytes(std::uint64_t count) {
    if (count > rest_.size()) {
      sound_ = false;
      return {};
    }
    const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(count));
    rest_.remove_prefix(taken.size());
    return taken;
  }
  std::optional<std::string_view> bytes_or_nothing() {
    const std::uint64_t coded = number();
    if (coded == 0) return std::nullopt;
    return bytes(coded - 1);
  }

 private:
  std::string_view rest_;
  bool sound_ = true;
};

}  // namespace

void append_record(const Message& message, RecordBefore& before, std::string& content) {
  // Mostly 0, which is one byte.
  const std::uint64_t gap = message.offset - before.next;
  const std::uint64_t time = zigzag(static_cast<std::uint64_t>(message.milliseconds) - before.milliseconds);
  append_number(body_bytes(message, gap, time), content);
  append_number(gap, content);
  content += static_cast<char>(message.time_kind);
  append_number(time, content);
  append_bytes_or_nothing(message.key, content);
  append_bytes_or_nothing(message.value, content);
  append_number(message.headers.size(), content);
  for (const MessageHeader& header : message.headers) {
    append_bytes(header.name, content);
    append_bytes_or_nothing(header.value, content);
  }
  // The next record is written relative to this one.
  before = {message.offset + 1, static_cast<std::uint64_t>(message.milliseconds)};
}

// The gap and the difference of times are taken for the largest numbers there are.
std::size_t record_bytes_bound(const Message& message) noexcept {
  return number_bytes_max + body_bytes(message, UINT64_MAX, UINT64_MAX);
}

bool RecordParser::next(MessageBatch& batch) {
  Fields outer(rest_);
  const std::uint64_t length = outer.number();
  // The record's own fields cannot reach beyond its length, whatever they claim.
  Fields fields(outer.bytes(length));
  const std::uint64_t gap = fields.number();
  const std::string_view kind = fields.bytes(1);
  const std::uint64_t time = before_.milliseconds + unzigzag(fields.number());
  Message message{.offset = before_.next + gap, .milliseconds = static_cast<std::int64_t>(time)};
  message.key = fields.bytes_or_nothing();
  message.value = fields.bytes_or_nothing();
  std::uint64_t headers = fields.number();
  // `kind` is looked at only where the fields are sound: it is empty otherwise. An offset that wrapped around lies
  // below the one before it.
  const bool in_range = outer.sound() && fields.sound() && static_cast<unsigned char>(kind[0]) <= 2 &&
                        message.offset >= before_.next && message.offset != UINT64_MAX;
  if (!in_range) return false;
  message.time_kind = static_cast<TimeKind>(kind[0]);
  batch.add(message);
  // A claimed count of headers ends with the record's bytes: each header takes at least two.
  for (; headers > 0 && fields.sound(); --headers) {
    const std::string_view name = fields.bytes(fields.number());
    batch.add_header({name, fields.bytes_or_nothing()});
  }
  before_ = {message.offset + 1, time};
  rest_ = outer.rest();
  return fields.sound() && fields.rest().empty();
}

}  // namespace nustream::decode
