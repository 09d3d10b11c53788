// Apache Kafka as a child of the test: real brokers on free ports of this machine, which a test can kill and freeze.
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
  /// Puts the same listener under TLS, with the certificates of make_certificates() in this folder. It lets in
  /// clients that show a certificate of the authority.
  std::string certificates{};
  bool acl = false;  ///< sasl_user may do only what is granted; users of other listeners may do everything
  /// The port of a proxy in front of the first broker's clients' listener; 0: none.
  std::uint16_t advertised_port = 0;
  std::map<std::string, std::string> properties{};  ///< added to those of every broker
  BrokerNetwork* network = nullptr;                 ///< brokers run on its hosts instead of on loopback
  std::size_t disk_mebibytes = 0;  ///< size of a file system in memory for each broker's data; 0: none of its own
};

/// Makes by openssl an authority, a broker's certificate for 127.0.0.1, a client's, and the authority of somebody
/// else: ca.pem, broker.pem (with its key), client.pem, client.key and other-ca.pem. Returns the folder.
std::string make_certificates(const TemporaryFolder& folder);

inline constexpr const char* sasl_user = "alice";
inline constexpr const char* sasl_password = "wonderland-4711";

/// Brokers in KRaft mode, which are ready for clients once constructed. Their data go with the object, and they
/// themselves end with the process. They make no topics by themselves. The thread that makes the object has to
/// outlive it.
class KafkaCluster {
 public:
  explicit KafkaCluster(ClusterOptions options = {});
  ~KafkaCluster();
  KafkaCluster(const KafkaCluster&) = delete;
  KafkaCluster& operator=(const KafkaCluster&) = delete;

  /// The brokers for the program under test; behind the advertised port where there is one.
  [[nodiscard]] std::string bootstrap() const;
  /// The brokers' own listener, for the test itself; it is not behind any proxy.
  [[nodiscard]] std::string direct() const;
  [[nodiscard]] std::string sasl() const;
  /// The port on which a broker (from 0) really listens for clients, to which a proxy connects.
  [[nodiscard]] std::uint16_t port(std::size_t broker = 0) const { return nodes_.at(broker).client_port; }

  /// Grants sasl_user a right, in the words of Kafka's own command: {"--operation", "Read", "--topic", "*"}.
  void grant(const std::vector<std::string>& right) const;
  /// Takes the right away, in the same words.
  void take_away(const std::vector<std::string>& right) const;

  /// Ends a broker by SIGKILL.
  void kill(std::size_t broker = 0);
  /// Ends a broker by SIGTERM, and waits until it has ended.
  void stop(std::size_t broker = 0);
  /// Starts a broker that was killed or stopped, on the same data and ports. Returns once it takes clients.
  void restart(std::size_t broker = 0);
  /// Sends a broker SIGSTOP, or SIGCONT.
  void freeze(std::size_t broker = 0);
  void thaw(std::size_t broker = 0);
  /// Fills the broker's bounded disk to its last byte, or makes room again. A broker that cannot write ends.
  void fill_disk(std::size_t broker);
  void free_disk(std::size_t broker);
  /// Whether the broker's process is there. From here on, one that ended by itself counts as gone.
  [[nodiscard]] bool is_running(std::size_t broker);

 private:
  struct Node {
    std::uint16_t client_port;
    std::uint16_t direct_port;
    std::uint16_t controller_port;
    std::uint16_t sasl_port;
    pid_t process = 0;
    int starts = 0;  // each start has a log of its own
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

/// One broker for all tests of a program, started by the first test that asks for it.
[[nodiscard]] KafkaCluster& shared_broker();

/// A name that no other test of this run uses, such as "WHAT-1", "WHAT-2".
[[nodiscard]] std::string fresh_name(const std::string& what);

}  // namespace nustream::tests
