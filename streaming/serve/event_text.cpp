// Text of server-sent events (WHATWG HTML, section 9.2) and of their ids. An id comes back from a client, which may
// send anything in it, so that reading one never fails: what cannot be read counts as not seen.
#include "serve/event_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

namespace nustream::serve {
namespace {

/// The four numbers of "LANE.EPOCH.STEPS.RELEASED"; nothing where the text is anything else. Lanes and epochs have 32
/// bits.
std::optional<std::array<std::uint64_t, 4>> numbers_of(std::string_view part) {
  std::array<std::uint64_t, 4> numbers{};
  const char* at = part.data();
  const char* const end = at + part.size();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0 && (at == end || *at++ != '.')) return std::nullopt;
    const auto [rest, error] = std::from_chars(at, end, numbers[i]);
    if (error != std::errc{}) return std::nullopt;
    at = rest;
  }
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  if (at != end || numbers[0] > most || numbers[1] > most) return std::nullopt;
  return numbers;
}

}  // namespace

// For example "0.0.1000.900,1.2.512.0": of lane 0 the client knows 1000 committed steps of epoch 0 and the release at
// step 900, and of lane 1 the 512 steps of epoch 2, which has released nothing yet.
std::string text_of(const SeenLanes& seen) {
  std::string text;
  for (const auto& [lane, of] : seen) {
    std::string part = std::to_string(lane.value()) + '.' + std::to_string(of.epoch) + '.' +
                       std::to_string(of.steps) + '.' + std::to_string(of.released);
    // The id is cut after a whole lane. A number that was cut could name another lane or step.
    if (text.size() + 1 + part.size() > seen_bytes_max) break;
    text += (text.empty() ? "" : ",") + part;
  }
  return text.empty() ? "-" : text;
}

SeenLanes seen_lanes(std::string_view text) {
  SeenLanes seen;
  // A client may send a longer header than any id of ours.
  text = text.substr(0, seen_bytes_max);
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    if (const auto numbers = numbers_of(part)) {
      const auto& [lane, epoch, steps, released] = *numbers;
      seen.insert_or_assign(LaneId{static_cast<std::uint32_t>(lane)},
                            SeenLane{static_cast<std::uint32_t>(epoch), steps, released});
    }
    text.remove_prefix(std::min(part.size() + 1, text.size()));
  }
  return seen;
}

std::string event_text(std::string_view id, std::string_view event, std::string_view data) {
  // For example, with an empty line at the end:
  //
  //     id: 0.0.1000.900
  //     event: update
  //     data: {"stream":"mine","open":[0],"lanes":[…]}
  std::string text = "id: ";
  text += id;
  text += "\nevent: ";
  text += event;
  text += "\ndata: ";
  text += data;
  text += "\n\n";
  return text;
}

}  // namespace nustream::serve
