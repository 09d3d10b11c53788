// The order in which guests of a full listener go: by rank, then by how many connections their address has, then by
// how long their activity has lasted. Compared as tuples, so that each criterion counts only where the earlier ones
// are equal.
#include "serve/eviction.h"

#include <map>
#include <tuple>

namespace nustream::serve {
namespace {

/// Connections with a lower rank go first; those without a rank stay.
std::optional<int> rank(Activity activity) {
  switch (activity) {
    case Activity::leaving:
    case Activity::idle:
      return 0;
    case Activity::fresh:
    case Activity::reading:
      return 1;
    case Activity::answering:
    case Activity::following:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::size_t> who_makes_room(std::span<const Guest> guests,
                                          const std::optional<boost::asio::ip::address>& among) {
  std::map<boost::asio::ip::address, std::ptrdiff_t> connections;
  for (const Guest& guest : guests) ++connections[guest.address];
  using Order = std::tuple<int, std::ptrdiff_t, std::chrono::steady_clock::time_point>;
  std::optional<Order> least;
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < guests.size(); ++i) {
    const Guest& guest = guests[i];
    const std::optional<int> first = rank(guest.activity);
    if (!first || (among && guest.address != *among)) continue;
    // The count is negative, since the least tuple goes first and the address with the most connections has to lose.
    const Order order{*first, -connections[guest.address], guest.since};
    if (least && *least <= order) continue;
    least = order;
    found = i;
  }
  return found;
}

}  // namespace nustream::serve
