// Brokers in network namespaces of their own, joined by a bridge, so that a test can cut one off, or two from each
// other.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace nustream::tests {

/// A namespace for each host, with an address that this machine reaches, too. All of it goes with the object. Throws
/// where namespaces cannot be made.
class BrokerNetwork {
 public:
  explicit BrokerNetwork(std::size_t hosts);
  ~BrokerNetwork();
  BrokerNetwork(const BrokerNetwork&) = delete;
  BrokerNetwork& operator=(const BrokerNetwork&) = delete;

  /// Whether this process may make namespaces and has the tools (`ip`, `iptables`).
  [[nodiscard]] static bool is_possible();

  [[nodiscard]] std::string address(std::size_t host) const;
  /// The words that a command begins with to run on that host.
  [[nodiscard]] std::vector<std::string> on(std::size_t host) const;

  /// Nothing reaches the host, and nothing leaves it.
  void isolate(std::size_t host);
  /// The two hosts do not hear each other; all others hear both.
  void cut(std::size_t one, std::size_t other);
  /// The host does not hear this machine's own processes, while they still hear the host.
  void deafen(std::size_t host);
  /// Undoes isolate(), cut() and deafen().
  void mend();

 private:
  [[nodiscard]] std::string space(std::size_t host) const;
  [[nodiscard]] std::string link(std::size_t host) const;
  void drop(std::size_t host, const std::string& from) const;

  std::size_t hosts_;
  std::string name_;
  std::string net_;  ///< the first three numbers of the addresses
};

}  // namespace nustream::tests
