// How clients are configured: what exactly-once and speed need, under what the user passes through.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "kafka/handles.h"
#include "kafka/secret_properties.h"

namespace nustream::kafka {

/// Where the brokers are and how they are spoken to; the same for every client of the process.
struct ClientSettings {
  std::string brokers;  ///< host:port, several with commas
  /// Of librdkafka by their names: [kafka.librdkafka] and -X. Checked by check_properties(); over the defaults of
  /// each role. Secrets may lie elsewhere: with_secrets().
  Properties properties{};
  /// Once it is true, questions that wait for brokers give up with Cancelled. Null: never; outlives the clients.
  const std::atomic<bool>* cancelled = nullptr;
};

/// What a client is for: decides its defaults.
enum class Role {
  group_consumer,          ///< reads the input, read_committed
  transactional_producer,  ///< writes
  committed_reader,        ///< reads one partition, or asks about topics; read_committed
  uncommitted_reader,      ///< the same, read_uncommitted: its end is the high watermark
};

/// Failure(configuration) for a property that does not exist (with the nearest that does), whose value is not
/// allowed, or that is refused by name: those that would break exactly-once, and those that have a key of their own
/// in [kafka]. A secret's value is in no text.
void check_properties(const Properties& properties);

/// The value that a client of `role` runs with, as librdkafka prints it: "1000000" for message.max.bytes. Throws as
/// check_properties() does.
[[nodiscard]] std::string property_in_force(const ClientSettings& settings, Role role, const std::string& name);

/// The same of a time in milliseconds.
[[nodiscard]] std::chrono::milliseconds time_in_force(const ClientSettings& settings, Role role,
                                                      const std::string& name);

/// All of it for a new client: the role's defaults, the user's properties over them, `own` over both (group.id,
/// transactional.id: what is decided elsewhere). Log lines go to log_line(). Throws as check_properties() does.
[[nodiscard]] ConfigurationHandle client_configuration(const ClientSettings& settings, Role role,
                                                       const Properties& own);

/// `text` on one line, each value of a secret property in `properties` blotted out (sasl.password, ssl.key.password,
/// …). `properties` are with_secrets(), as the client has them: a file may hold another secret by now.
[[nodiscard]] std::string blot_secrets(std::string text, const Properties& properties);

}  // namespace nustream::kafka
