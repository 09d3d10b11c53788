// The published past of a lane, read again from its topic for the status page.
#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include "kafka/client_settings.h"
#include "kafka/lane_place.h"

namespace nustream::attach {

/// Encoded releases of the lane, a line each, as a reader of committed records finds them at present: all of them
/// where there are few, else 512 at even distances of offsets. Of any epoch. Waits for at most `time`, and returns
/// what was found by then; nothing where the topic cannot be read, since no more than a picture is missing. `ended`:
/// nobody wants it any more.
[[nodiscard]] std::string read_past(const kafka::ClientSettings& client, const kafka::LanePlace& place,
                                    std::chrono::milliseconds time, const std::atomic<bool>& ended);

}  // namespace nustream::attach
