// Decides which client of a full listener makes room for the next one.
#pragma once

#include <boost/asio/ip/address.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace nustream::serve {

/// What a connection is doing.
enum class Activity : std::uint8_t {
  fresh,      ///< connected, and has sent nothing yet
  reading,    ///< a request has begun and is not yet whole
  answering,  ///< an answer is on the way
  following,  ///< is told of events as they come
  idle,       ///< waits between two requests
  leaving,    ///< was refused; what it still sends is read and dropped
};

struct Guest {
  Activity activity = Activity::fresh;
  std::chrono::steady_clock::time_point since{};  ///< when that began
  boost::asio::ip::address address{};
};

/// The guest that has to go, as its place in `guests`. Guests that are idle or leaving go first, then those that have
/// sent no whole request. Among equals, a guest of the address with the most connections goes, and among its guests
/// the one whose activity has lasted longest. So a client that sends its request at once is answered, however many
/// others keep silent or send a byte now and then.
///
/// Empty where all guests are being answered or follow events. That does not last: each answer ends within
/// Limits::request_time, and followers, at most half of all guests, have a limit of their own. Where `among` is
/// given, only guests of that address may go.
[[nodiscard]] std::optional<std::size_t> who_makes_room(std::span<const Guest> guests,
                                                        const std::optional<boost::asio::ip::address>& among = {});

}  // namespace nustream::serve
