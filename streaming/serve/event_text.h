// The text of server-sent events: what a client has seen, and one message.
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
  std::uint64_t steps = 0;     ///< steps that were committed
  std::uint64_t released = 0;  ///< step of the last published release; 0 before the first

  friend bool operator==(const SeenLane&, const SeenLane&) = default;
};

/// What a client has seen of every lane. Its text is the id of an event, so that a client that comes back with
/// Last-Event-ID is told what it missed, whichever process it comes back to and whatever was restarted.
using SeenLanes = std::map<LaneId, SeenLane>;

/// All that one client has been told.
struct Seen {
  SeenLanes lanes{};
  std::string operator_text{};  ///< the operator's figures; only on the operator's listener
};

/// The longest id, which bounds a header. A longer one is cut after a whole lane, and the client is told of the other
/// lanes again.
inline constexpr std::size_t seen_bytes_max = 4096;

/// The id "LANE.EPOCH.STEPS.RELEASED" for each lane, separated by commas; "-" for no lane.
[[nodiscard]] std::string text_of(const SeenLanes& seen);
/// Reads such an id. Lanes that cannot be read count as not seen.
[[nodiscard]] SeenLanes seen_lanes(std::string_view text);

/// One message; `data` has to be one line.
[[nodiscard]] std::string event_text(std::string_view id, std::string_view event, std::string_view data);

}  // namespace nustream::serve
