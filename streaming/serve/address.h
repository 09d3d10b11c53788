// Where a listener listens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nustream::serve {

struct Address {
  std::string ip;  ///< a literal, IPv6 without brackets
  std::uint16_t port;
};

/// Reads "IP:PORT", "[IPv6]:PORT" or "localhost:PORT" (127.0.0.1). Throws InvalidParameter(`setting`) for anything
/// else: a listener never asks a resolver where it is.
[[nodiscard]] Address parse_address(std::string_view setting, std::string_view text);

/// Whether only this machine can reach it.
[[nodiscard]] bool is_loopback(const Address& address);

/// Whether the name in a Host header (its port apart) is an IP literal or "localhost": a name that no resolver of
/// somebody else's can point here.
[[nodiscard]] bool is_literal_host(std::string_view host);

/// As parse_address() reads it.
[[nodiscard]] std::string to_text(const Address& address);

}  // namespace nustream::serve
