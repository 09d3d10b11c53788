// How clients are configured: defaults that exactly-once and speed need, and over them the properties that the user
// sets.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "kafka/handles.h"
#include "kafka/secret_properties.h"

namespace nustream::kafka {

/// Where the brokers are, and how clients talk to them. It is the same for every client of the process.
struct ClientSettings {
  std::string brokers;  ///< host:port, several with commas
  /// Properties of librdkafka by their names, from [kafka.librdkafka] and -X. They are checked by check_properties(),
  /// and replace the defaults of each role. Secrets among them may be named by file or variable (with_secrets()).
  Properties properties{};
  /// Once it is true, questions that wait for brokers give up with Cancelled. May be null, and outlives the clients.
  const std::atomic<bool>* cancelled = nullptr;
};

/// What a client is for. Its defaults follow from that.
enum class Role {
  group_consumer,          ///< reads the input, read_committed
  transactional_producer,  ///< writes
  committed_reader,        ///< reads one partition, or asks about topics, read_committed
  uncommitted_reader,      ///< the same, read_uncommitted, so that its end is the high watermark
};

/// Whether clients with these properties sign in by SASL.
[[nodiscard]] bool uses_sasl(const Properties& properties);

/// Throws RefusedProperty, with Exit::configuration, for a property that does not exist (and names the nearest one
/// that does), for a value that is not allowed, and for properties that are refused by name: they would break
/// exactly-once, or have a key of their own in [kafka]. Throws as with_secrets() does, too. No message holds the
/// value of a secret.
void check_properties(const Properties& properties);
/// The same for the properties of settings. The failure says where the property stands: in which line of `file`, or
/// behind which option.
void check_properties(const config::Kafka& kafka, const std::string& file);

/// The value that a client of `role` runs with, as librdkafka prints it: "1000000" for message.max.bytes. Throws as
/// check_properties() does.
[[nodiscard]] std::string property_in_force(const ClientSettings& settings, Role role, const std::string& name);

/// The value of property_in_force(), for a property that is a time in milliseconds.
[[nodiscard]] std::chrono::milliseconds time_in_force(const ClientSettings& settings, Role role,
                                                      const std::string& name);

/// The whole configuration of a new client: the role's defaults, over them the user's properties, and over both
/// `own`, which is decided elsewhere (group.id, transactional.id). Log lines go to log_line(). Throws as
/// check_properties() does.
[[nodiscard]] ConfigurationHandle client_configuration(const ClientSettings& settings, Role role,
                                                       const Properties& own);

/// `text` on one line, with each value of a secret property in `properties` blotted out (sasl.password,
/// ssl.key.password, …). `properties` have to be as with_secrets() gave them to the client, since a file may hold
/// another secret by now.
[[nodiscard]] std::string blot_secrets(std::string text, const Properties& properties);

}  // namespace nustream::kafka
