// How large a dead letter is as a record of the topic, bounded from above, and how it is cut to fit. The bound
// follows the record batch of the Kafka protocol (format 2), without compression.
#include "kafka/dead_letter.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace nustream::kafka {
namespace {

// The bytes that a batch adds to a record's own: 61 for the batch, and 36 for the record, whose lengths, offset and
// time are counted as wide as they can be.
constexpr std::size_t record_overhead = 61 + 36;
// The two lengths of a header, of up to five bytes each.
constexpr std::size_t header_overhead = 10;
// The most digits, with a sign, of a number of 64 bits.
constexpr std::size_t number = 20;

std::size_t size_of(const std::optional<std::string>& bytes) {
  return bytes ? bytes->size() : 0;
}

/// What is never cut: the batch, the reason, and the five headers that nustream adds, of which three are numbers.
std::size_t size_of_reason(const journal::DeadLetter& letter, std::string_view input_topic) {
  constexpr std::array<std::string_view, 5> names{"nustream.reason", "nustream.topic", "nustream.partition",
                                                  "nustream.offset", "nustream.time"};
  std::size_t bytes = record_overhead + letter.reason.size() + input_topic.size() + 3 * number;
  for (const std::string_view name : names) bytes += header_overhead + name.size();
  return bytes;
}

template <class Header>
std::size_t size_of_header(const Header& header) {
  return header_overhead + header.first.size() + size_of(header.second);
}

/// Takes the room that `bytes` need from `left`, and cuts them where there is less.
void take_room(std::optional<std::string>& bytes, std::size_t& left) {
  if (!bytes) return;
  bytes->resize(std::min(bytes->size(), left));
  left -= bytes->size();
}

}  // namespace

std::size_t bytes_bound(const journal::DeadLetter& letter, std::string_view input_topic) {
  std::size_t bytes = size_of_reason(letter, input_topic) + size_of(letter.key) + size_of(letter.value);
  for (const auto& header : letter.headers) bytes += size_of_header(header);
  return bytes;
}

bool fit(journal::DeadLetter& letter, std::string_view input_topic, std::size_t bytes_max) {
  const std::size_t reason = size_of_reason(letter, input_topic);
  if (reason > bytes_max) return false;
  // Room is given to the value first, then to the key and the headers: what is given room last is cut first.
  std::size_t left = bytes_max - reason;
  take_room(letter.value, left);
  take_room(letter.key, left);
  std::size_t kept = 0;
  for (; kept < letter.headers.size() && size_of_header(letter.headers[kept]) <= left; ++kept) {
    left -= size_of_header(letter.headers[kept]);
  }
  letter.headers.resize(kept);
  return true;
}

}  // namespace nustream::kafka
