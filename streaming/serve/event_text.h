// Server-sent events as the listeners speak them: what a client has seen, and one message.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "nustream/base/units.h"

namespace nustream::serve {

/// How far one lane was when a client last heard of it.
struct SeenLane {
  std::uint32_t epoch = 0;
  std::uint64_t steps = 0;     ///< committed ones
  std::uint64_t released = 0;  ///< of the last published release; 0 before the first

  friend bool operator==(const SeenLane&, const SeenLane&) = default;
};

/// What a client has seen of every lane. Its text is the id of an event, so that a client that comes back with
/// Last-Event-ID is told what it missed, whichever process it comes back to, and whatever was restarted.
using SeenLanes = std::map<LaneId, SeenLane>;

/// All that one client was told.
struct Seen {
  SeenLanes lanes{};
  std::string operator_text{};  ///< of the operator's figures, on the operator's listener alone
};

/// Longer ids are cut behind a whole lane: the client is then told of the others again. It bounds a header.
inline constexpr std::size_t seen_bytes_max = 4096;

/// "LANE.EPOCH.STEPS.RELEASED", separated by commas; "-" for no lane.
[[nodiscard]] std::string text_of(const SeenLanes& seen);
/// What cannot be read is as if it had not been seen.
[[nodiscard]] SeenLanes seen_lanes(std::string_view text);

/// One message. `data` is one line.
[[nodiscard]] std::string event_text(std::string_view id, std::string_view event, std::string_view data);

}  // namespace nustream::serve
