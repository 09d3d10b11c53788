// What a dead letter says about the record that it holds.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "decode/message.h"
#include "journal/journal.h"
#include "kafka/lane_place.h"

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

}  // namespace nustream::kafka
