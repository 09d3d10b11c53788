// Dead letters: the headers that they get, how large they are, and how to make one fit.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decode/message.h"
#include "journal/journal.h"
#include "kafka/partition.h"

namespace nustream::kafka {

/// The headers of a dead letter: the record's own, then nustream.reason, nustream.topic, nustream.partition,
/// nustream.offset and nustream.time (milliseconds since 1970). It keeps the texts that its headers point into, so
/// that it cannot be moved. `letter` and `place` outlive it.
class DeadLetterHeaders {
 public:
  DeadLetterHeaders(const journal::DeadLetter& letter, const LanePlace& place)
      : offset_(std::to_string(letter.position.value())),
        partition_(std::to_string(place.partition().value())),
        time_(std::to_string(letter.milliseconds)) {
    for (const auto& [name, value] : letter.headers) {
      headers_.push_back({name, value ? std::optional<std::string_view>(*value) : std::nullopt});
    }
    headers_.push_back({"nustream.reason", letter.reason});
    headers_.push_back({"nustream.topic", place.topics.input});
    headers_.push_back({"nustream.partition", partition_});
    headers_.push_back({"nustream.offset", offset_});
    headers_.push_back({"nustream.time", time_});
  }
  DeadLetterHeaders(const DeadLetterHeaders&) = delete;
  DeadLetterHeaders& operator=(const DeadLetterHeaders&) = delete;

  [[nodiscard]] std::span<const decode::MessageHeader> headers() const noexcept { return headers_; }

 private:
  std::string offset_;
  std::string partition_;
  std::string time_;
  std::vector<decode::MessageHeader> headers_;
};

/// An upper bound on the uncompressed bytes of a batch that holds this letter alone, with the headers that
/// DeadLetterHeaders adds. `input_topic` is the input's name, which these headers show.
[[nodiscard]] std::size_t bytes_bound(const journal::DeadLetter& letter, std::string_view input_topic);

/// Cuts the letter until bytes_bound() is at most `bytes_max`: first the record's headers, then its key, and its
/// value last. Returns false where not even the reason fits; the letter is then as it was.
[[nodiscard]] bool fit(journal::DeadLetter& letter, std::string_view input_topic, std::size_t bytes_max);

}  // namespace nustream::kafka
