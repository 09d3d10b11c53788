// The command, before there is a service: what needs no broker is checked first, then brokers are waited for, then
// settings are measured where any are "private", and then the service runs (service.cpp). The listeners answer from
// early on, so that a probe finds the process alive while it waits.
#include "attach/attach.h"

#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "attach/front.h"
#include "attach/measuring.h"
#include "attach/preflight.h"
#include "attach/record_sizes.h"
#include "attach/service.h"
#include "attach/start_up.h"
#include "attach/topic_requirements.h"
#include "config/growing_stages.h"
#include "config/mechanism.h"
#include "console/operator_file.h"
#include "console/signals.h"
#include "folder/options.h"
#include "kafka/secret_properties.h"
#include "log/log.h"
#include "measure/fit.h"
#include "measure/measure.h"
#include "publish/epsilons.h"
#include "secrets/key_place.h"
#include "secrets/locked_memory.h"
#include "serve/bearer_token.h"

namespace nustream::attach {
namespace {

/// Refuses --write-config where nothing would be written, or where the file is already there. Called before a broker
/// is asked for anything, so that a wrong argument fails at once.
void require_new_file(const Options& options, bool measures, const std::string& file) {
  if (options.write_config.empty()) return;
  if (!measures) {
    throw Failure(Exit::usage, "--write-config: " + file +
                                   " has no setting that is \"private\", so that there is nothing to write; leave "
                                   "--write-config out");
  }
  console::require_new_file(options.write_config);
}

/// Settles where the token of the operator's listener is: where the settings place it, else beside the stream's key.
/// A token that is not there yet is made. With no token at all, the setting becomes "none".
void settle_token(config::Config& config) {
  std::filesystem::path beside;
  if (!config.state.key_file.empty()) {
    beside = secrets::real_path(config.state.key_file).parent_path();
  } else if (!config.serve.operator_address.empty() && config.serve.operator_token_file.empty()) {
    beside = secrets::key_directory(config.state.key_directory);
  }
  const serve::SettledToken token = serve::settle_operator_token(config.serve, config.stream, beside);
  config.serve.operator_token_file = token.path.empty() ? serve::no_token : token.path.string();
  if (token.path.empty()) return;
  log::info("operator_token",
            fmt::format("the operator's pages on {} ask for the token in {}{}", config.serve.operator_address,
                        token.path.string(), token.is_new ? ", which was made now" : ""));
}

/// Checks the topics, and waits for brokers that are not up yet, for kafka.give_up in all. Once 5 s are over the
/// operator is told, in the log and through `tell`, which broker is waited for and why.
TopicFacts wait_for_topics(const config::Config& config, const std::atomic<bool>& cancelled,
                           const std::function<void(std::string)>& tell) {
  constexpr std::chrono::milliseconds patience{5'000};
  try {
    return check_topics(config, std::min(patience, config.kafka.give_up), cancelled);
  } catch (const Failure& failure) {
    if (failure.code() != Exit::unavailable || config.kafka.give_up <= patience) throw;
    const std::string waiting = fmt::format("waiting for {}: {}", config.kafka.brokers, failure.what());
    log::info("brokers_waited_for", waiting);
    tell(waiting);
  }
  return check_topics(config, config.kafka.give_up - patience, cancelled);
}

/// Raises the soft limits of file descriptors and threads to what the lanes need. Each lane's producer has threads
/// and sockets of its own, so that a process whose limits are low would fail in the middle of a run. Throws
/// Failure(configuration) where the hard limit is too low. The counts per lane and broker are generous estimates.
void require_room_for_lanes(const config::Config& config, std::uint32_t partitions) {
  const auto brokers = static_cast<std::uint64_t>(
      std::max<std::ptrdiff_t>(3, 1 + std::count(config.kafka.brokers.begin(), config.kafka.brokers.end(), ',')));
  // Where there is a combined model, lane 0 keeps its producer to write it even after it has stopped, and does not
  // count towards lanes_max then.
  const std::uint64_t writer = config.kafka.topics.model.empty() ? 0 : 1;
  const std::uint64_t lanes = std::min<std::uint64_t>(config.kafka.lanes_max + writer, partitions);
  const auto require = [&](int resource, const char* name, const char* limit_of, std::uint64_t needed) {
    rlimit limit{};
    if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) return;
    if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= needed) return;
    limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ? needed : std::min<rlim_t>(needed, limit.rlim_max);
    static_cast<void>(::setrlimit(static_cast<__rlimit_resource_t>(resource), &limit));
    if (limit.rlim_cur >= needed) return;
    throw Failure(Exit::configuration,
                  fmt::format("{} lanes need some {} {}, and {} are allowed: raise the limit (ulimit {}), or lower "
                              "kafka.max_lanes",
                              lanes, needed, name, limit.rlim_cur, limit_of));
  };
  require(RLIMIT_NOFILE, "file descriptors", "-n", 256 + lanes * (12 + 3 * brokers));
  require(RLIMIT_NPROC, "threads", "-u", 64 + lanes * (4 + brokers));
}

/// Writes into the settings among how many lanes users are divided. A user counts in one lane alone: with "@key" in
/// the lane to which the topic's own partitioner sends that key, else in the lane that a hash of the user gives. In
/// the second case the log warns, since records of a user that arrive in any other lane take a step without a
/// gradient.
void divide_users(config::Config& config, std::uint32_t partitions) {
  config.users->lanes = partitions;
  if (partitions == 1 || config::partitioner_of(config) != users::Partitioner::user_hash) return;
  log::warning(
      "settings",
      fmt::format("privacy.user = \"{}\" is not the topic's key, and each user counts in one of {} partitions "
                  "only: records of a user in any other partition take a step without a gradient. Use the "
                  "user as the key (privacy.user = \"@key\"), or have the producers choose partitions as "
                  "nustream does",
                  config.users->column, partitions));
}

/// Waits until brokers tell of the topics, and makes `found` what they told. Returns nothing, or the exit code of a
/// signal that came first. The work is then left behind on its thread (start_up.h), so that it owns what it uses.
std::optional<Exit> find_topics(const config::Config& config, StartUp& start_up,
                                const std::function<void(std::string)>& tell, TopicFacts& found) {
  const auto facts = std::make_shared<TopicFacts>();
  const auto asked = std::make_shared<const config::Config>(config);
  if (const auto told = start_up.run([asked, facts, tell](const std::atomic<bool>& cancelled) {
        *facts = wait_for_topics(*asked, cancelled, tell);
      })) {
    return told;
  }
  found = *facts;
  return std::nullopt;
}

/// Measures the settings that are "private", and puts what was measured in their place. Returns nothing, or the exit
/// code of a signal that came before the measuring was over.
std::optional<Exit> settle_ranges(config::Config& config, const secrets::Keyring& keys, const TopicFacts& facts,
                                  const std::string& write_config, StartUp& start_up,
                                  const std::function<void(std::string)>& tell) {
  const auto order = std::make_shared<const MeasuringOrder>(
      MeasuringOrder{config, keys, facts.partitions, facts.lanes_with_room, tell, {}});
  const auto ranges = std::make_shared<std::string>();
  if (const auto told = start_up.run(
          [order, ranges](const std::atomic<bool>& cancelled) { *ranges = measure_stream(*order, cancelled); })) {
    return told;
  }
  config::Config settled =
      measure::settled_config(config, config::Purpose::stream, *ranges, "stream " + config.stream + ", lane 0",
                              "choose other topics and another stream.name");
  settled.kafka = config.kafka;
  settled.serve = config.serve;
  if (!write_config.empty()) {
    console::write_new_file(write_config,
                            measure::used_settings(settled, config, "the topic " + config.kafka.topics.ledger),
                            "what was measured is committed; the same command goes on");
  }
  config = std::move(settled);
  return std::nullopt;
}

/// Chooses the log's format. Where the settings name none, a terminal gets plain sentences, because somebody watches
/// it, and any other standard error gets lines for machines.
void begin_log(const config::Log& settings) {
  const log::Format usual = ::isatty(STDERR_FILENO) == 1 ? log::Format::plain : log::Format::text;
  log::use({settings.format.value_or(usual), settings.file});
}

/// Runs the service, and lets SIGHUP renew its secrets. A Kafka client keeps the certificates and passwords that it
/// was made with. So where the files of the secrets have changed at a SIGHUP, the lanes are handed over, and
/// console::StartAgain has the process start again in its own place.
Exit run_service(Front& front, const Setup& setup, const config::Mechanism& mechanism, std::uint32_t partitions,
                 const Options& options, StartUp& start_up) {
  const kafka::SecretFiles secrets(setup.config.kafka.properties);
  Service service(front, setup, mechanism, partitions, options);
  // From here on signals are the service's own. One that came before would be lost, so it is asked for now.
  if (const auto told = start_up.told_to_end()) return *told;
  front.on_hangup = [&] {
    const std::string changed = secrets.changed();
    if (changed.empty()) return;
    log::info(
        "starts_again",
        "SIGHUP: the content of the file of " + changed +
            " has changed: lanes are handed over, and the process starts again with it, under the same process id");
    service.renew();
  };
  const Exit exit = service.run();
  front.on_hangup = {};
  if (!service.renews() || exit != Exit::done) return exit;
  if (const auto told = start_up.told_to_end()) return *told;
  throw console::StartAgain();
}

/// Throws, before anything is spent on measuring, where states and releases of the measured settings will not fit
/// their topics. Sizes do not depend on the values that are measured, but on whether units grow by them.
void require_room_for_measured(const config::Config& asked, const secrets::Keyring& keys, const TopicFacts& facts) {
  config::Config measured = asked;
  if (!measure::lines_of_a_part(asked).empty()) {
    measured.moments->grows = true;
    config::add_growing_stages(*measured.moments, measured.descent.minibatch);
  }
  const config::Mechanism mechanism = config::make_mechanism(measured, privacy::Participation::once());
  static_cast<void>(outbox_bytes(measured, release_bytes(measured, mechanism), state_bytes(measured, mechanism, keys),
                                 facts.record_bytes_max));
}

/// The command that begins new epochs under these settings. A secret behind -X is left out of it.
std::string command_for_new_epoch(const config::Config& config, const Options& options) {
  folder::Options typed;
  typed.command = "attach";
  typed.insecure_seed = options.insecure_seed;
  const std::string words = kafka::typed_properties(options.properties) + " --new-epoch";
  return folder::command_to_go_on(config, typed, words.substr(1));
}

/// Warns of what these settings will lead to, as `check` does.
void warn_of_settings(const config::Config& config, const config::Mechanism& mechanism) {
  for (const std::string& warning : warnings_ahead(config, mechanism)) log::warning("settings", warning);
  const std::string large = publish::large_delta(config.privacy.deltas(), config.problem.records);
  if (!large.empty()) log::warning("settings", large);
}

}  // namespace

Exit run(config::Config config, const Options& options) {
  // The process is hardened before a key is in memory.
  secrets::harden_process();
  begin_log(config.log);
  if (!config.chosen.empty()) log::info("estimator_chosen", config.chosen);
  if (config.kafka.brokers.empty()) {
    throw Failure(Exit::configuration, config.file + ": kafka.brokers is missing; set it, or name them with -b");
  }
  preflight(config);
  require_attachable(config);
  const bool measures = !config.measuring.keys.empty();
  require_new_file(options, measures, config.file);
  // The mechanism is made without a broker first, so that settings which no mechanism fits are refused before
  // anything is waited for.
  std::optional<config::Mechanism> mechanism = config::make_mechanism(config, privacy::Participation::once());
  const secrets::Keyring keys = stream_keys(config, options.insecure_seed);
  const std::string rule = measures ? ranges_rule(config, keys.is_private()) : std::string();
  warn_of_settings(config, *mechanism);
  settle_token(config);
  // From here on the process listens, and says what it waits for.
  Front front(config.serve, config.stream);
  StartUp start_up(front.loop);
  front.operators.set_phase(serve::Phase::starting, "waiting for " + config.kafka.brokers);
  // `tell` is called on the thread that waits for brokers. It posts to the loop, since the surfaces are the loop
  // thread's. Where a signal abandons that wait, the loop no longer runs and what was posted is dropped.
  const auto tell = [loop = front.loop, operators = &front.operators](std::string waiting) {
    boost::asio::post(
        *loop, [operators, waiting = std::move(waiting)] { operators->set_phase(serve::Phase::starting, waiting); });
  };
  TopicFacts facts;
  if (const auto told = find_topics(config, start_up, tell, facts)) return *told;
  // Measuring spends, so this comes before it: what is refused here must not have cost anything.
  require_room_for_lanes(config, facts.partitions);
  if (measures) {
    require_room_for_measured(config, keys, facts);
    const auto told = settle_ranges(config, keys, facts, options.write_config, start_up, tell);
    if (told) return *told;
    // The mechanism is made again, from the values that were measured.
    mechanism.emplace(config::make_mechanism(config, privacy::Participation::once()));
  }
  front.operators.set_phase(serve::Phase::starting, "joining group " + config.kafka.group);
  for (const std::string& warning : facts.warnings) log::warning("topics", warning);
  if (config.users) divide_users(config, facts.partitions);
  // What lanes write has to fit their topics, whose limits the brokers have told.
  const std::size_t release_max = release_bytes(config, *mechanism);
  config.publishing.outbox_bytes_max =
      outbox_bytes(config, release_max, state_bytes(config, *mechanism, keys), facts.record_bytes_max);
  const Setup setup{config,
                    config::EpochDigests(config, *mechanism, keys.is_private()),
                    keys,
                    release_max,
                    facts.letter_bytes_max,
                    facts.lanes_with_room,
                    facts.user_bytes_max,
                    user_entries(config, facts.user_bytes_max),
                    rule,
                    command_for_new_epoch(config, options)};
  return run_service(front, setup, *mechanism, facts.partitions, options, start_up);
}

}  // namespace nustream::attach
