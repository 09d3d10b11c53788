// The settings of the two listeners: their addresses and limits, checked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "config/serve.h"

namespace nustream::serve {

// The address that a listener listens on.
struct Address {
  std::string ip;  ///< a literal; IPv6 without brackets
  std::uint16_t port;
};

/// Reads "IP:PORT", "[IPv6]:PORT" or "localhost:PORT", which means 127.0.0.1. Throws InvalidParameter(`setting`) for
/// anything else: a listener never asks a resolver for its own address.
[[nodiscard]] Address parse_address(std::string_view setting, std::string_view text);

/// Whether only this machine can reach the address.
[[nodiscard]] bool is_loopback(const Address& address);

/// Whether the name in a Host header (without its port) is an IP literal or "localhost". Nobody else's resolver can
/// make such a name point here.
[[nodiscard]] bool is_literal_host(std::string_view host);

/// The text that parse_address() reads.
[[nodiscard]] std::string to_text(const Address& address);

using Limits = config::ServeLimits;
using Settings = config::Serve;

/// Throws InvalidParameter with the setting's name where a limit is out of range.
void check(const Limits& limits);

/// Throws InvalidParameter("serve.operator_token_file") where the operator's address can be reached from elsewhere.
/// To be called for listeners that ask for no token.
void require_loopback(const Settings& settings);

/// Checks the limits, and that the addresses are addresses and differ, and that an operator's listener beyond this
/// machine has a token. Reads no file.
void check(const Settings& settings);

}  // namespace nustream::serve
