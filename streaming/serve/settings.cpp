// Reads addresses and checks the limits of [serve]. Addresses are literals and are never looked up: a resolver's
// answer could make a listener reachable from elsewhere.
#include "serve/settings.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <iterator>
#include <optional>

#include "nustream/base/error.h"
#include "serve/bearer_token.h"

namespace nustream::serve {
namespace {

constexpr const char* allowed_address = "IP:PORT, [IPv6]:PORT or localhost:PORT; names are not looked up";

/// The address of a literal such as "10.0.0.1"; nothing for any other text.
std::optional<in_addr> as_ipv4(const std::string& ip) {
  in_addr address{};
  if (::inet_pton(AF_INET, ip.c_str(), &address) != 1) return std::nullopt;
  return address;
}

std::optional<in6_addr> as_ipv6(const std::string& ip) {
  in6_addr address{};
  if (::inet_pton(AF_INET6, ip.c_str(), &address) != 1) return std::nullopt;
  return address;
}

/// All of 127.0.0.0/8 is this machine (RFC 1122, section 3.2.1.3).
bool is_loopback_ipv4(const unsigned char* bytes) {
  return bytes[0] == 127;
}

/// The IP literal of "IP", "[IPv6]" or "localhost"; empty where the text is none of them.
std::string literal(std::string_view host) {
  if (host == "localhost") return "127.0.0.1";
  // Only an address in brackets may be IPv6, since otherwise its last group would read as a port.
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const std::string ip(bracketed ? host.substr(1, host.size() - 2) : host);
  const bool valid = bracketed ? as_ipv6(ip).has_value() : as_ipv4(ip).has_value();
  return valid ? ip : std::string();
}

}  // namespace

// "127.0.0.1:9464", "[::1]:9464" and "localhost:9464" are addresses; ":9464" and "example.org:9464" are refused.
Address parse_address(std::string_view setting, std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const std::string ip = colon == std::string_view::npos ? std::string() : literal(text.substr(0, colon));
  if (ip.empty()) throw InvalidParameter(std::string(setting), std::string(text), allowed_address);
  const std::string_view digits = text.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    throw InvalidParameter(std::string(setting), std::string(text), allowed_address);
  }
  return {ip, port};
}

bool is_loopback(const Address& address) {
  // The bytes of both kinds of addresses are in network order, so that the first one is the 127.
  if (const auto v4 = as_ipv4(address.ip)) {
    unsigned char bytes[4];
    std::memcpy(bytes, &*v4, sizeof bytes);
    return is_loopback_ipv4(bytes);
  }
  const auto v6 = as_ipv6(address.ip);
  if (!v6) return false;
  // An IPv4 address may come in the form of IPv6, such as ::ffff:127.0.0.1.
  return IN6_IS_ADDR_LOOPBACK(&*v6) || (IN6_IS_ADDR_V4MAPPED(&*v6) && is_loopback_ipv4(v6->s6_addr + 12));
}

bool is_literal_host(std::string_view host) {
  // The last colon of "[::1]" belongs to the address and not to a port.
  const std::size_t colon = host.rfind(':');
  const bool has_port = colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos;
  return !literal(has_port ? host.substr(0, colon) : host).empty();
}

std::string to_text(const Address& address) {
  // Only IPv6 has colons in an address, and needs brackets in front of a port.
  const bool ipv6 = address.ip.find(':') != std::string::npos;
  return (ipv6 ? "[" + address.ip + "]" : address.ip) + ":" + std::to_string(address.port);
}

namespace {

/// Throws for a limit out of range, by the name that the setting has in the file.
void require(bool valid, const char* name, const std::string& value, const char* allowed) {
  if (!valid) throw InvalidParameter(name, value, allowed);
}

/// An address, and the setting that it stands in.
struct Placed {
  const char* setting;
  const std::string& text;
};

/// The bytes of an address in the form of IPv6, in which the system compares both kinds; an IPv4 address is mapped
/// into it.
std::array<unsigned char, 16> bytes_of(const Address& address) {
  std::array<unsigned char, 16> bytes{};
  if (const auto v4 = as_ipv4(address.ip)) {
    bytes[10] = bytes[11] = 0xff;
    std::memcpy(bytes.data() + 12, &*v4, sizeof *v4);
  } else if (const auto v6 = as_ipv6(address.ip)) {
    std::memcpy(bytes.data(), v6->s6_addr, bytes.size());
  }
  return bytes;
}

/// Whether whoever listens on `all` listens on `one` too: [::] is every address, 0.0.0.0 every one of IPv4.
bool covers(const std::array<unsigned char, 16>& all, const std::array<unsigned char, 16>& one) {
  constexpr std::array<unsigned char, 16> any{};
  constexpr std::array<unsigned char, 16> any_ipv4{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return all == one || all == any || (all == any_ipv4 && std::equal(one.begin(), one.begin() + 12, any_ipv4.begin()));
}

/// Whether the system takes the two for one: the same port on the same address, or on all addresses.
bool are_one(const Address& a, const Address& b) {
  // Port 0 stands for any free port.
  if (a.port != b.port || a.port == 0) return false;
  return covers(bytes_of(a), bytes_of(b)) || covers(bytes_of(b), bytes_of(a));
}

/// Throws where two listeners would listen on one address: the second of them could not begin.
void require_addresses_of_their_own(const Settings& settings) {
  const Placed all[] = {{"serve.public_address", settings.public_address},
                        {"serve.health_address", settings.health_address},
                        {"serve.operator_address", settings.operator_address}};
  for (const Placed* one = std::begin(all); one != std::end(all); ++one) {
    for (const Placed* other = std::begin(all); other != one; ++other) {
      if (one->text.empty() || other->text.empty()) continue;
      if (!are_one(parse_address(one->setting, one->text), parse_address(other->setting, other->text))) continue;
      throw InvalidParameter(one->setting, one->text,
                             std::string("an address or a port of its own, not that of ") + other->setting);
    }
  }
}

/// One millisecond to one hour. The message names seconds, as the settings do.
void check_time(const char* name, std::chrono::milliseconds time) {
  const bool valid = time >= std::chrono::milliseconds{1} && time <= std::chrono::hours{1};
  require(valid, name, std::to_string(std::chrono::duration<double>(time).count()), "0.001 to 3600");
}

}  // namespace

void check(const Limits& limits) {
  require(limits.header_bytes_max >= 256 && limits.header_bytes_max <= 1 << 20, "serve.header_bytes_max",
          std::to_string(limits.header_bytes_max), "256 to 1048576");
  require(limits.connections_max >= 1 && limits.connections_max <= 10'000, "serve.connections_max",
          std::to_string(limits.connections_max), "1 to 10000");
  require(limits.connections_per_address_max >= 1, "serve.connections_per_address_max",
          std::to_string(limits.connections_per_address_max), "at least 1");
  require(limits.events_max <= 10'000, "serve.events_max", std::to_string(limits.events_max), "0 to 10000");
  require(limits.events_per_address_max <= 10'000, "serve.events_per_address_max",
          std::to_string(limits.events_per_address_max), "0 to 10000");
  require(limits.requests_max >= 1, "serve.requests_max", std::to_string(limits.requests_max), "at least 1");
  check_time("serve.timeout_seconds", limits.request_time);
  check_time("serve.idle_seconds", limits.idle_time);
}

void require_loopback(const Settings& settings) {
  if (is_loopback(parse_address("serve.operator_address", settings.operator_address))) return;
  throw InvalidParameter("serve.operator_token_file",
                         settings.operator_token_file.empty() ? "(none)" : settings.operator_token_file,
                         "a file with a bearer token, since serve.operator_address is not loopback and what it shows "
                         "is not private");
}

void check(const Settings& settings) {
  check(settings.limits);
  if (!settings.public_address.empty()) {
    static_cast<void>(parse_address("serve.public_address", settings.public_address));
  }
  if (!settings.health_address.empty()) {
    static_cast<void>(parse_address("serve.health_address", settings.health_address));
  }
  require_addresses_of_their_own(settings);
  if (settings.operator_address.empty()) return;
  static_cast<void>(parse_address("serve.operator_address", settings.operator_address));
  // Without a named file a token is made (settle_operator_token()), so that only "none" leaves the listener open.
  if (settings.operator_token_file == no_token) require_loopback(settings);
}

}  // namespace nustream::serve
