// Checks that need no broker. They come before everything else, so that a mistake in the settings is told at once,
// and by `nustream check` in the same words.
#include "attach/preflight.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "config/advice.h"
#include "config/typed.h"
#include "decode/message_decoder.h"
#include "engine/budget_advice.h"
#include "error.h"
#include "kafka/client.h"
#include "kafka/client_settings.h"
#include "kafka/secret_properties.h"
#include "located.h"
#include "measure/fit.h"
#include "secrets/key_file.h"
#include "serve/settings.h"

namespace nustream::attach {
namespace {

/// Refuses a drain time that is not shorter than max.poll.interval.ms: the group does not wait longer than that
/// interval for a member that hands lanes over.
void require_time_to_drain(const config::Config& config) {
  const char* const name = "max.poll.interval.ms";
  const std::chrono::milliseconds allowed =
      kafka::time_in_force({config.kafka.brokers, config.kafka.properties}, kafka::Role::group_consumer, name);
  if (config.kafka.drain < allowed) return;
  throw Failure(Exit::configuration,
                fmt::format("{}: kafka.drain_seconds = {} leaves a lane no time to be handed over: set it below {} = "
                            "{} ms",
                            config::set_or_file(config, "kafka.drain_seconds"),
                            static_cast<double>(config.kafka.drain.count()) / 1000, name, allowed.count()));
}

/// Refuses a minibatch that is larger than a batch or than the rows that may wait: it would never fill, and the lane
/// would never take a step.
void require_room_for_a_minibatch(const config::Config& config) {
  const std::uint64_t batch = std::min<std::uint64_t>(config.state.commit_records, config.kafka.buffered_records);
  if (config.descent.minibatch > batch) {
    const char* const key = config.moments ? "release.every" : "descent.minibatch";
    throw Failure(
        Exit::configuration,
        fmt::format(
            "{0}: {1} = {2} is larger than state.commit_records = {3} or kafka.buffered_records = {4}, so that "
            "no step would ever be taken: raise both to at least {2}",
            config::set_or_file(config, key), key, config.descent.minibatch, config.state.commit_records,
            config.kafka.buffered_records));
  }
}

/// Where the properties stand that the client library names in `reason`: "-X fetch.max.bytes, k.toml:12:1: …". Where
/// it names none that is set, it may be about any of the file and of those that were typed.
std::string places_of_named(const config::Config& config, const std::string& reason) {
  std::string named;
  std::string typed;
  for (const auto& [name, place] : config.kafka.places) {
    if (names_place(reason, name)) named += (named.empty() ? "" : ", ") + place;
    if (place.starts_with("-X")) typed += (typed.empty() ? " with " : ", ") + place;
  }
  return named.empty() ? config.file + typed : named;
}

/// Makes a client without brokers, which connects to nobody. It refuses settings that do not go together.
void require_properties_together(const config::Config& config) try {
  const kafka::ClientSettings nobody{"", config.kafka.properties};
  static_cast<void>(new_consumer(nobody, kafka::Role::committed_reader, {}));
} catch (const Failure& failure) {
  throw Failure(failure.code(), places_of_named(config, failure.what()) + ": " + failure.what());
}

/// Refuses privacy.account, which is a file. Instances of an attached stream may run on several machines, and would
/// then charge different files.
void refuse_account(const config::Config& config) {
  if (config.privacy.account.empty()) return;
  throw Failure(
      Exit::configuration,
      config::set_or_file(config, "privacy.account") +
          ": privacy.account is a file of one machine, and instances of an attached stream may run on "
          "several: leave it out, set privacy.budget, and have the account keep as much for this stream with "
          "nustream account reserve");
}

}  // namespace

void preflight(config::Config& config) {
  // Without brokers nobody attaches, and [kafka] does not matter.
  if (config.kafka.brokers.empty()) return;
  refuse_account(config);
  require_room_for_a_minibatch(config);
  // Brokers wait for a transaction for as long as the lane does.
  config.kafka.properties.try_emplace("transaction.timeout.ms", std::to_string(config.kafka.transaction.count()));
  kafka::check_properties(config.kafka, config.file);
  require_properties_together(config);
  serve::check(config.serve);
  require_time_to_drain(config);
}

void require_key_file(const config::Config& config) {
  if (!config.state.key_file.empty()) return;
  throw Failure(Exit::configuration,
                config.file +
                    ": state.key_file is missing: every instance needs the same key file; make one with: "
                    "nustream key new FILE");
}

void require_attachable(const config::Config& config) {
  if (config.kafka.brokers.empty()) return;
  if (config.input.framing_is_trusted) {
    throw Failure(Exit::configuration,
                  config::set_or_file(config, "stream.framing") +
                      ": stream.framing = \"trusted\" is for files: a topic's records end where their lengths say, "
                      "line breaks or not; leave it out");
  }
  if (config.users && config.users->limits->windows() && config.users->limits->windows()->times_are_trusted) {
    throw Failure(Exit::configuration,
                  config::set_or_file(config, "users.times") +
                      ": users.times = \"trusted\" is for recorded files: the windows of an attached topic go by "
                      "append time; leave it out, and stream.time too");
  }
  if (!config.measuring.keys.empty()) measure::require_measurable_in_topic(config);
  // The constructor refuses what it cannot read.
  located(config.file, [&config] { static_cast<void>(decode::MessageDecoder(config.input, config.schema)); });
}

secrets::Keyring stream_keys(const config::Config& config, std::optional<std::uint64_t> insecure_seed) {
  if (insecure_seed) return secrets::Keyring::insecure(*insecure_seed);
  require_key_file(config);
  return secrets::load_key_file(config.state.key_file);
}

std::vector<std::string> beyond_usual_limits(const config::Config& config) {
  using std::chrono::milliseconds;
  if (config.kafka.brokers.empty()) return {};
  // The defaults of Apache Kafka.
  constexpr milliseconds transaction_max{900'000};
  constexpr milliseconds session_min{6'000};
  constexpr milliseconds session_max{1'800'000};
  const kafka::ClientSettings client{config.kafka.brokers, config.kafka.properties};
  const auto transaction =
      kafka::time_in_force(client, kafka::Role::transactional_producer, "transaction.timeout.ms");
  const auto session = kafka::time_in_force(client, kafka::Role::group_consumer, "session.timeout.ms");
  std::vector<std::string> sentences;
  if (transaction > transaction_max) {
    sentences.push_back(
        fmt::format("a transaction may take {} ms (kafka.transaction_seconds): brokers allow {} unless their "
                    "transaction.max.timeout.ms was raised, and else attach would be refused",
                    transaction.count(), transaction_max.count()));
  }
  if (session < session_min || session > session_max) {
    sentences.push_back(
        fmt::format("session.timeout.ms = {}: brokers allow {} to {} unless their group.min.session.timeout.ms and "
                    "group.max.session.timeout.ms were changed, and else attach would be refused",
                    session.count(), session_min.count(), session_max.count()));
  }
  return sentences;
}

std::vector<std::string> warnings_ahead(const config::Config& config, const config::Mechanism& mechanism) {
  std::vector<std::string> warnings{config::unit_is_the_record(config), config::overshoot(config),
                                    config::dotted_member(config),      config::too_few_batches(config),
                                    config::restarts_in_vain(config),   engine::short_of_budget(config, mechanism)};
  std::erase_if(warnings, [](const std::string& warning) { return warning.empty(); });
  if (config.kafka.brokers.empty()) return warnings;
  for (std::string& advice : kafka::security_advice(config.kafka, config.file)) warnings.push_back(std::move(advice));
  return warnings;
}

}  // namespace nustream::attach
