// What topics are like, on the simulated broker.
#include "kafka/client.h"
#include "kafka/topic_checks.h"
#include "simulated_kafka.h"

namespace nustream::kafka {

TopicChecks::TopicChecks(const ClientSettings& /*settings*/) {}
TopicChecks::~TopicChecks() = default;

std::optional<TopicDescription> TopicChecks::describe(const std::string& /*topic*/, Deadline /*deadline*/) {
  return std::nullopt;
}

std::optional<std::int32_t> TopicChecks::partitions(const std::string& /*topic*/, Deadline /*deadline*/) {
  broker().enter_call();
  if (!broker().is_away()) return broker().lanes;
  broker().count("a question without an answer");
  throw KafkaFailure("ask for partitions", error(Cause::unavailable, Remedy::call_again, "no broker"));
}

std::string TopicChecks::cluster(Deadline /*deadline*/) {
  return {};
}

std::vector<std::string> topic_names(const ClientSettings& /*settings*/, Deadline /*deadline*/) {
  return {};
}

}  // namespace nustream::kafka
