#include "attach/attach.h"

#include <filesystem>

#include <fmt/format.h>

#include "attach/service.h"
#include "attach/topic_requirements.h"
#include "secrets/harden.h"
#include "secrets/key_file.h"

namespace nustream::attach {
namespace {

secrets::Keyring load_keys(const config::Config& config, const Options& options) {
  if (options.insecure_seed) return secrets::Keyring::insecure(*options.insecure_seed);
  if (config.state.key_file.empty()) {
    throw Failure(Exit::configuration,
                  config.file +
                      ": state.key_file is missing: every instance needs the same key file; make "
                      "one with: nustream key new FILE");
  }
  return secrets::load_key_file(config.state.key_file);
}

}  // namespace

Exit run(config::Config config, const Options& options) {
  secrets::harden_process();
  if (config.kafka.brokers.empty()) {
    throw Failure(Exit::configuration, config.file + ": kafka.brokers is missing; set it, or name them with -b");
  }
  config.kafka.properties.try_emplace("transaction.timeout.ms", std::to_string(config.kafka.transaction.count()));
  kafka::check_properties(config.kafka.properties);
  const config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
  const secrets::Keyring keys = load_keys(config, options);
  const TopicFacts facts = check_topics(config);
  for (const std::string& warning : facts.warnings) fmt::print(stderr, "nustream: warning: {}\n", warning);
  config.outbox_bytes_max = outbox_bytes(config, mechanism, facts);
  const Setup setup{config, config::settings_digest(config, mechanism), keys};
  Service service(setup, mechanism, facts.partitions, options);
  return service.run();
}

}  // namespace nustream::attach
