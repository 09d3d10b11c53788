// Reads the releases that a lane has published from its topic, for the picture on the status page.
#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include "kafka/client_settings.h"
#include "kafka/partition.h"

namespace nustream::attach {

/// Returns encoded releases of the lane, of any epoch, a line each, as a reader of committed records finds them at
/// present. These are all of them where the topic's partition has at most 8,192 offsets, and otherwise about 512 at
/// even distances. Waits for at most `time`, or until `ended` is true, and returns what was found by then. Returns
/// nothing where the topic cannot be read: only a picture is missing then.
[[nodiscard]] std::string read_past(const kafka::ClientSettings& client, const kafka::LanePlace& place,
                                    std::chrono::milliseconds time, const std::atomic<bool>& ended);

}  // namespace nustream::attach
