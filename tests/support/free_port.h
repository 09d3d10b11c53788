// Ports for what tests start: brokers, listeners, Prometheus.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
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

/// Holds `port` until this program ends, so that no other test program is given it. Returns false where the port is
/// held already, by this program or by another one. A broker binds its ports seconds after they were drawn, and until
/// then they look free to everybody. What is held is an abstract Unix socket of the port's name: the system takes the
/// socket back even from a program that was killed.
inline bool hold(std::uint16_t port) {
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const std::string name = "nustream-test-port-" + std::to_string(port);
  ::sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(name.begin(), name.end(), address.sun_path + 1);  // a first byte of zero makes the name abstract
  const auto length = static_cast<::socklen_t>(offsetof(::sockaddr_un, sun_path) + 1 + name.size());
  if (::bind(descriptor, reinterpret_cast<const ::sockaddr*>(&address), length) == 0) return true;
  ::close(descriptor);
  return false;
}

/// A port of 127.0.0.1 that nobody listens on, and another one at each call, also of other test programs. It lies
/// below the ports that the system gives to clients: a client that reconnects to a dead broker could otherwise become
/// its own peer there, and keep the port.
inline std::uint16_t free_port() {
  static std::mt19937 random{std::random_device{}()};
  while (true) {
    const auto port = static_cast<std::uint16_t>(std::uniform_int_distribution<int>(10'000, 31'999)(random));
    if (hold(port) && is_free(port)) return port;
  }
}

inline std::string loopback(std::uint16_t port) {
  return "127.0.0.1:" + std::to_string(port);
}

}  // namespace nustream::tests
