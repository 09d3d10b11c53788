// The time of a record.
#pragma once

#include <string_view>

namespace nustream::decode {

/// Seconds since 1970-01-01T00:00:00Z from an ISO 8601 timestamp (record/timestamp.h) or from a plain number of
/// such seconds; NaN where the text is neither.
[[nodiscard]] double read_event_time(std::string_view text) noexcept;

}  // namespace nustream::decode
