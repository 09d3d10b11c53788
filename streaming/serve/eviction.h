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
  idle,       ///< between two requests
  leaving,    ///< was refused; what it still sends is read and dropped
};

struct Guest {
  Stage stage = Stage::fresh;
  std::chrono::steady_clock::time_point since{};  ///< of the stage
  boost::asio::ip::address address{};
};

/// The one to go, by its place in `guests`: whoever is done before whoever has sent no whole request, of those the
/// one whose address has the most connections, and then the one that is there for longest. So a client that asks at
/// once is answered, however many others keep silent or send a byte now and then. Nobody where all are being
/// answered: that ends by itself, within Limits::request_time. Only guests of address `among` where one is given.
[[nodiscard]] std::optional<std::size_t> who_makes_room(std::span<const Guest> guests,
                                                        const std::optional<boost::asio::ip::address>& among = {});

}  // namespace nustream::serve
