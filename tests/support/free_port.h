// Ports for what tests start: brokers, listeners, Prometheus.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <random>
#include <set>
#include <string>

namespace nustream::tests {

inline bool is_free(std::uint16_t port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ::sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool bound = ::bind(descriptor, reinterpret_cast<const ::sockaddr*>(&address), sizeof address) == 0;
  ::close(descriptor);
  return bound;
}

/// A port of 127.0.0.1 that nobody listens on, and another one at each call. It lies below the ports that the system
/// gives to clients: a client that reconnects to a dead broker could otherwise become its own peer there, and keep
/// the port. It is drawn at random, since other test programs draw at the same time.
inline std::uint16_t free_port() {
  static std::mt19937 random{std::random_device{}()};
  static std::set<std::uint16_t> given;
  while (true) {
    const auto port = static_cast<std::uint16_t>(std::uniform_int_distribution<int>(10'000, 31'999)(random));
    if (is_free(port) && given.insert(port).second) return port;
  }
}

inline std::string loopback(std::uint16_t port) {
  return "127.0.0.1:" + std::to_string(port);
}

}  // namespace nustream::tests
