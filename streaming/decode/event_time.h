// Reads the time of a record.
#pragma once

#include <string_view>

#include "nustream/record/timestamp.h"

namespace nustream::decode {

/// Seconds since 1970-01-01T00:00:00Z, from an ISO 8601 timestamp (record/timestamp.h) or from a plain number of
/// `unit`s; NaN where the text is neither.
[[nodiscard]] double read_event_time(std::string_view text, record::TimeUnit unit) noexcept;

}  // namespace nustream::decode
