// Apache Kafka as a child of the test: real brokers on free ports of this machine, to be killed and frozen at will.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "broker_network.h"
#include "temporary_folder.h"

namespace nustream::tests {

struct ClusterOptions {
  int brokers = 1;    ///< 1, or 3 with replication factor 3 and min.insync 2
  bool sasl = false;  ///< a SASL_PLAINTEXT listener that lets sasl_user in
  /// The same listener under TLS instead, with the certificates of make_certificates() in this folder: it lets in who
  /// shows one of the authority's.
  std::string certificates{};
  bool acl = false;  ///< what is not granted to sasl_user is refused; users of other listeners may all
  std::uint16_t advertised_port = 0;  ///< of the first broker's clients' listener: a proxy's; 0 for its own
  std::map<std::string, std::string> properties{};  ///< over those of every broker
  BrokerNetwork* network = nullptr;  ///< whose hosts the brokers run on, in place of this one's loopback
  std::size_t disk_mebibytes = 0;    ///< of each broker's data, on a file system of its own in memory; 0: no bound
};

/// An authority, a broker's certificate for 127.0.0.1, a client's, and an authority of somebody else, by openssl:
/// ca.pem, broker.pem (with its key), client.pem, client.key, other-ca.pem. Returns the folder.
std::string make_certificates(const TemporaryFolder& folder);

inline constexpr const char* sasl_user = "alice";
inline constexpr const char* sasl_password = "wonderland-4711";

/// Brokers in KRaft mode, ready for clients once constructed; their data go with the object, they themselves with the
/// process. Topics are not made by themselves. The thread that makes the object has to stay until the object goes.
class KafkaCluster {
 public:
  explicit KafkaCluster(ClusterOptions options = {});
  ~KafkaCluster();
  KafkaCluster(const KafkaCluster&) = delete;
  KafkaCluster& operator=(const KafkaCluster&) = delete;

  /// Brokers for the program under test: through the advertised port, where there is one.
  [[nodiscard]] std::string bootstrap() const;
  /// The brokers' own listener: for the test itself, past any proxy.
  [[nodiscard]] std::string direct() const;
  [[nodiscard]] std::string sasl() const;
  /// Where the clients' listener of a broker (from 0) really is: what a proxy connects to.
  [[nodiscard]] std::uint16_t port(std::size_t broker = 0) const { return nodes_.at(broker).client_port; }

  /// Allows sasl_user something, in the words of Kafka's own command: {"--operation", "Read", "--topic", "*"}.
  void grant(const std::vector<std::string>& right) const;
  /// The opposite, in the same words.
  void take_away(const std::vector<std::string>& right) const;

  /// SIGKILL.
  void kill(std::size_t broker = 0);
  /// SIGTERM, and waits until it ended.
  void stop(std::size_t broker = 0);
  /// Starts a broker that was killed or stopped on the same data and ports. Returns once it takes clients.
  void restart(std::size_t broker = 0);
  /// SIGSTOP and SIGCONT.
  void freeze(std::size_t broker = 0);
  void thaw(std::size_t broker = 0);
  /// Fills the broker's bounded disk to its last byte, and makes room again. A broker that cannot write ends.
  void fill_disk(std::size_t broker);
  void free_disk(std::size_t broker);
  /// Whether the broker's process is there; one that ended by itself is no more from here on.
  [[nodiscard]] bool is_running(std::size_t broker);

 private:
  struct Node {
    std::uint16_t client_port;
    std::uint16_t direct_port;
    std::uint16_t controller_port;
    std::uint16_t sasl_port;
    pid_t process = 0;
    int starts = 0;  // each has a log of its own
  };

  [[nodiscard]] std::string folder(std::size_t broker) const;
  [[nodiscard]] std::string log(std::size_t broker) const;
  [[nodiscard]] std::string address(std::size_t broker, std::uint16_t port) const;
  [[nodiscard]] std::string bootstrap_of(std::uint16_t Node::*port) const;
  void write_properties(std::size_t broker) const;
  void run_tool(const std::vector<std::string>& arguments) const;
  void change_rights(std::vector<std::string> how, const std::vector<std::string>& right) const;
  void start(std::size_t broker);
  void wait_until_started(std::size_t broker) const;
  void wait_until_complete() const;
  void signal(std::size_t broker, int number) const;
  void wait_for_end(std::size_t broker);

  ClusterOptions options_;
  TemporaryFolder folder_;
  std::vector<Node> nodes_;
};

/// One broker for all tests of a binary: started by the first that asks.
[[nodiscard]] KafkaCluster& shared_broker();

/// A name that no other test of this run uses: "WHAT-1", "WHAT-2", …
[[nodiscard]] std::string fresh_name(const std::string& what);

}  // namespace nustream::tests
