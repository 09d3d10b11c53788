// The properties of each role as tables, and the order in which they are applied: defaults first, then the user's, of
// which some are refused, and last what is decided elsewhere. The comment behind a value says what it is for.
#include "kafka/client_settings.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string_view>
#include <vector>

#include "config/nearest.h"
#include "error.h"
#include "kafka/log_lines.h"
#include "kafka/oauth_token.h"
#include "kafka/secret_properties.h"

namespace nustream::kafka {
namespace {

struct Property {
  const char* name;
  const char* value;
};

constexpr Property every_client[] = {
    {"client.id", "nustream"},
    {"log_level", "4"},  // warnings and worse
    // A broker that is back is found within half a second. A request to a broker that froze is given up after 10 s.
    {"reconnect.backoff.ms", "50"},
    {"reconnect.backoff.max.ms", "500"},
    {"socket.timeout.ms", "10000"},
    {"socket.keepalive.enable", "true"},
    {"socket.nagle.disable", "true"},
};

constexpr Property every_consumer[] = {
    {"retry.backoff.ms", "5"},
    {"enable.auto.commit", "false"},        // offsets are committed in transactions
    {"enable.auto.offset.store", "false"},  //
    {"auto.offset.reset", "error"},         // records must not be skipped silently
    {"enable.partition.eof", "true"},
    {"allow.auto.create.topics", "false"},
};

constexpr Property group_consumer[] = {
    {"isolation.level", "read_committed"},
    {"partition.assignment.strategy", "cooperative-sticky"},
    {"session.timeout.ms", "6000"},
    {"heartbeat.interval.ms", "2000"},
    {"topic.metadata.refresh.interval.ms", "10000"},  // an added partition is seen within 10 s
    // A start, and the end of a partition, wait for the fetch under way. With 100 ms an idle topic costs 0.2% of a
    // core.
    {"fetch.wait.max.ms", "100"},
    // At either limit the fetcher pauses for a second. They are so high that the fastest records measured never reach
    // them.
    {"queued.min.messages", "1000000"},
    {"queued.max.messages.kbytes", "262144"},
};

// The last fetch, which finds the end of the partition, waits on the broker for fetch.wait.max.ms.
constexpr Property committed_reader[] = {{"isolation.level", "read_committed"}, {"fetch.wait.max.ms", "10"}};
constexpr Property uncommitted_reader[] = {{"isolation.level", "read_uncommitted"}, {"fetch.wait.max.ms", "10"}};

constexpr Property producer_properties[] = {
    {"enable.idempotence", "true"},
    {"transaction.timeout.ms", "60000"},
    {"linger.ms", "0"},
    // Right after each commit the broker still answers CONCURRENT_TRANSACTIONS, and the next call waits for this
    // long.
    {"retry.backoff.ms", "2"},
    {"queue.buffering.max.messages", "1000000"},
};

struct Refusal {
  const char* name;
  const char* reason;
};

// A user may change what concerns speed, security and patience. What exactly-once rests on stays as it is.
constexpr const char* exactly_once = "exactly-once rests on it";
constexpr Refusal refusals[] = {
    {"enable.auto.commit", "offsets are committed with the state, in one transaction"},
    {"auto.commit.enable", "offsets are committed with the state, in one transaction"},
    {"auto.commit.interval.ms", "offsets are committed with the state, in one transaction"},
    {"enable.auto.offset.store", "offsets are committed with the state, in one transaction"},
    {"offset.store.method", "offsets are committed with the state, in one transaction"},
    {"isolation.level", "the input is read_committed, or records of aborted transactions would be counted"},
    {"enable.idempotence", exactly_once},
    {"enable.gapless.guarantee", exactly_once},
    {"acks", "it has to be all"},
    {"request.required.acks", "it has to be all"},
    {"auto.offset.reset", "an offset that the log does not hold has to be noticed; see kafka.start"},
    {"partition.assignment.strategy", "lanes move one by one: it has to be cooperative-sticky"},
    {"enable.partition.eof", "restoring and stopping rest on it"},
    {"allow.auto.create.topics", "a topic that is made by accident has the wrong settings"},
    {"transactional.id", "each lane has its own, by which a takeover fences the old owner"},
    {"delivery.report.only.error", "a commit waits for every report"},
    {"bootstrap.servers", "set kafka.brokers"},
    {"metadata.broker.list", "set kafka.brokers"},
    {"group.id", "set kafka.group"},
    {"group.instance.id", "set kafka.group_instance_id"},
    {"log.queue", "log lines go to standard error"},
};

/// The failure for a property that cannot be used.
RefusedProperty refused(const std::string& name, const std::string& reason) {
  return {Exit::configuration, name, reason + "; correct it, or take it out"};
}

/// Why a user may not set the property; null where they may.
const Refusal* refusal_of(std::string_view name) {
  const auto found = std::find_if(std::begin(refusals), std::end(refusals),
                                  [name](const Refusal& refusal) { return name == refusal.name; });
  return found == std::end(refusals) ? nullptr : found;
}

/// The names of all properties that this version of librdkafka has, for "did you mean".
std::vector<std::string> known_properties(rd_kafka_conf_t* configuration) {
  std::size_t count = 0;
  const char** dump = rd_kafka_conf_dump(configuration, &count);
  std::vector<std::string> names;
  // The dump has names and values in turn.
  for (std::size_t i = 0; i < count; i += 2) names.emplace_back(dump[i]);
  rd_kafka_conf_dump_free(dump, count);
  return names;
}

/// Sets one property. The library's own message may quote the value, and is not shown for a secret.
void set(rd_kafka_conf_t* configuration, const std::string& name, const std::string& value) {
  std::array<char, 512> text{};
  switch (rd_kafka_conf_set(configuration, name.c_str(), value.c_str(), text.data(), text.size())) {
    case RD_KAFKA_CONF_OK:
      return;
    case RD_KAFKA_CONF_UNKNOWN:
      throw refused(name, "does not exist" + config::did_you_mean(name, known_properties(configuration)));
    default:
      throw refused(
          name, is_secret(name) ? "has a value that is not allowed" : std::string("cannot be set: ") + text.data());
  }
}

// The value of a property that exists; empty where it was never set.
std::string value_of(const rd_kafka_conf_t* configuration, const std::string& name) {
  std::size_t size = 0;
  if (rd_kafka_conf_get(configuration, name.c_str(), nullptr, &size) != RD_KAFKA_CONF_OK || size == 0) return {};
  std::string value(size, '\0');
  rd_kafka_conf_get(configuration, name.c_str(), value.data(), &size);
  value.resize(size - 1);  // without the closing NUL
  return value;
}

void set_all(rd_kafka_conf_t* configuration, std::span<const Property> properties) {
  for (const Property& property : properties) set(configuration, property.name, property.value);
}

/// The role's defaults, the common ones first, so that a role's own table may replace one of them.
void set_defaults(rd_kafka_conf_t* configuration, Role role) {
  set_all(configuration, every_client);
  if (role != Role::transactional_producer) set_all(configuration, every_consumer);
  switch (role) {
    case Role::group_consumer:
      return set_all(configuration, group_consumer);
    case Role::transactional_producer:
      return set_all(configuration, producer_properties);
    case Role::committed_reader:
      return set_all(configuration, committed_reader);
    case Role::uncommitted_reader:
      return set_all(configuration, uncommitted_reader);
  }
}

// False for librdkafka's line that a property means nothing to this kind of client. Every property is given to every
// client here, so that such lines would only be noise.
bool is_news(std::string_view text) {
  return text.find("property and will be ignored by this") == std::string_view::npos;
}

// Lowers socket.timeout.ms to transaction.timeout.ms where that was made shorter: librdkafka refuses a configuration
// in which a request may outlive its transaction.
void fit_socket_timeout(rd_kafka_conf_t* configuration, const Properties& properties) {
  const auto transaction = properties.find("transaction.timeout.ms");
  if (transaction == properties.end() || properties.contains("socket.timeout.ms")) return;
  if (std::stoll(value_of(configuration, "transaction.timeout.ms")) <
      std::stoll(value_of(configuration, "socket.timeout.ms"))) {
    set(configuration, "socket.timeout.ms", transaction->second);
  }
}

/// Refuses SASL without a mechanism. The library would take Kerberos, and speak of its properties, which nobody set.
void require_mechanism(const Properties& properties) {
  if (!uses_sasl(properties)) return;
  const auto tells = [](const auto& property) {
    return property.first == "sasl.mechanism" || property.first == "sasl.mechanisms" ||
           property.first.starts_with("sasl.kerberos.");
  };
  if (std::any_of(properties.begin(), properties.end(), tells)) return;
  throw RefusedProperty(Exit::configuration, "security.protocol",
                        "= " + properties.at("security.protocol") +
                            " needs kafka.librdkafka.\"sasl.mechanism\": set it, or -X sasl.mechanism=MECHANISM "
                            "(PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER or GSSAPI)");
}

/// The log callback of every client, which any of the library's threads may call.
void forward_log_line(const rd_kafka_t* /*client*/, int /*level*/, const char* facility, const char* text) {
  if (is_news(text)) log_line(facility, text);
}

}  // namespace

bool uses_sasl(const Properties& properties) {
  const auto protocol = properties.find("security.protocol");
  if (protocol == properties.end()) return false;
  std::string_view text = protocol->second;
  constexpr std::string_view sasl = "sasl_";
  // The library reads the names of protocols in either case.
  return text.size() > sasl.size() && std::ranges::equal(text.substr(0, sasl.size()), sasl, [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == b;
         });
}

void check_properties(const Properties& properties) {
  // The values are checked as they are set. No client is made, and no broker is asked.
  static_cast<void>(client_configuration({"localhost", properties}, Role::committed_reader, {}));
}

void check_properties(const config::Kafka& kafka, const std::string& file) try {
  check_properties(kafka.properties);
} catch (const RefusedProperty& failure) {
  // The property is called by the secret's name where the settings name the secret's file or variable.
  for (const char* const ending : {"", "_file", "_env"}) {
    const auto place = kafka.places.find(failure.name() + ending);
    if (place != kafka.places.end()) throw Failure(failure.code(), place->second + " " + failure.reason());
  }
  throw Failure(failure.code(), file + ": " + failure.what());
}

ConfigurationHandle client_configuration(const ClientSettings& settings, Role role, const Properties& own) {
  ConfigurationHandle configuration(rd_kafka_conf_new());
  set_defaults(configuration.get(), role);
  Properties properties = with_secrets(settings.properties);
  take_oauth_source(properties, *configuration);
  require_mechanism(properties);
  for (const auto& [name, value] : properties) {
    if (const Refusal* refusal = refusal_of(name)) {
      throw refused(name, std::string("cannot be changed: ") + refusal->reason);
    }
    set(configuration.get(), name, value);
  }
  if (role == Role::transactional_producer) fit_socket_timeout(configuration.get(), properties);
  set(configuration.get(), "bootstrap.servers", settings.brokers);
  // Last, so that nothing replaces the group and the transactional id.
  for (const auto& [name, value] : own) set(configuration.get(), name, value);
  rd_kafka_conf_set_log_cb(configuration.get(), forward_log_line);
  return configuration;
}

std::string property_in_force(const ClientSettings& settings, Role role, const std::string& name) {
  const ConfigurationHandle configuration = client_configuration(settings, role, {});
  // Asked for by its name first: value_of() cannot tell a property that does not exist from one that was never set.
  std::size_t size = 0;
  if (rd_kafka_conf_get(configuration.get(), name.c_str(), nullptr, &size) != RD_KAFKA_CONF_OK) {
    throw refused(name, "does not exist" + config::did_you_mean(name, known_properties(configuration.get())));
  }
  return value_of(configuration.get(), name);
}

std::chrono::milliseconds time_in_force(const ClientSettings& settings, Role role, const std::string& name) {
  return std::chrono::milliseconds(std::stoll(property_in_force(settings, role, name)));
}

std::string blot_secrets(std::string text, const Properties& properties) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  for (const auto& [name, value] : properties) {
    if (value.empty() || !is_secret(name)) continue;
    // The search goes on behind the three stars, since a secret may itself be made of stars.
    for (std::size_t at = text.find(value); at != std::string::npos; at = text.find(value, at + 3)) {
      text.replace(at, value.size(), "***");
    }
  }
  return text;
}

}  // namespace nustream::kafka
