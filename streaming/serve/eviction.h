// Who of a full listener's clients makes room for the next one.
#pragma once

#include <boost/asio/ip/address.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace nustream::serve {

/// Where a connection stands.
enum class Stage : std::uint8_t {
  fresh,      ///< connected, no byte yet
  reading,    ///< a request has begun and is not whole
  answering,  ///< its answer is on the way
  following,  ///< is told of events as they come
  idle,       ///< between two requests
  leaving,    ///< was refused; what it still sends is read and dropped
};

struct Guest {
  Stage stage = Stage::fresh;
  std::chrono::steady_clock::time_point since{};  ///< of the stage
  boost::asio::ip::address address{};
};

/// The guest that has to go, as its place in `guests`. Guests that are idle or leaving go first, then those that have
/// sent no whole request. Among equals a guest of the address with the most connections goes, and among its guests
/// the one that has been in its stage for longest. So a client that asks at once is answered, however many others
/// keep silent or send a byte now and then. Nobody has to go where all guests are being answered or follow events:
/// each answer ends within Limits::request_time, and followers, at most half of all, have a limit of their own. Where
/// `among` is given, only guests of that address may go.
[[nodiscard]] std::optional<std::size_t> who_makes_room(std::span<const Guest> guests,
                                                        const std::optional<boost::asio::ip::address>& among = {});

}  // namespace nustream::serve
