// What a lane asks of its topics before it is taken over, and the one property of its producer that follows from
// them.
#include "attach/lane_clients.h"

#include <algorithm>

#include <fmt/format.h>

#include "kafka/client.h"
#include "kafka/topic_checks.h"

namespace nustream::attach {

std::vector<std::string> lane_topics(const kafka::LanePlace& place) {
  // The model has a topic of one record for the whole stream, and needs no partition of the lane.
  std::vector<std::string> topics{place.topics.state, place.topics.releases, place.topics.ledger};
  for (const std::string& topic : {place.topics.dead_letters, place.topics.users}) {
    if (!topic.empty()) topics.push_back(topic);
  }
  return topics;
}

void require_partitions(const kafka::ClientSettings& client, const kafka::LanePlace& place, std::uint32_t partitions,
                        kafka::Deadline deadline) {
  kafka::TopicChecks checks(client);
  for (const std::string& topic : lane_topics(place)) {
    // A topic that is missing counts as one with no partitions.
    const auto found = checks.partitions(topic, deadline).value_or(0);
    if (place.lane.value() < static_cast<std::uint32_t>(found)) continue;
    throw LaneWithoutPartition(
        fmt::format("topic '{0}' has {1} partitions, and lane {2} needs one of its own: raise their number to {3} "
                    "(kafka-topics --alter --topic {0} --partitions {3})",
                    topic, found, place.lane.value(), std::max(partitions, place.lane.value() + 1)));
  }
}

void require_users_lane(const Setup& setup, const kafka::LanePlace& place) {
  if (!setup.config.users || place.lane.value() < setup.config.users->lanes) return;
  throw LaneWithoutPartition(fmt::format(
      "partition {} of topic '{}' is new, and the users of this stream are divided among {} lanes: stop all "
      "instances, and begin a new epoch of all partitions with --new-epoch",
      place.lane.value(), place.topics.input, setup.config.users->lanes));
}

kafka::ClientSettings writing_client(const kafka::ClientSettings& client, const kafka::LanePlace& place,
                                     const Setup& setup) {
  constexpr const char* batch_size = "batch.size";
  kafka::ClientSettings writing = client;
  // The user's own batch.size counts, unless a topic takes less.
  std::size_t most = std::stoull(kafka::property_in_force(writing, kafka::Role::transactional_producer, batch_size));
  const std::size_t in_force = most;
  if (!place.topics.dead_letters.empty()) most = std::min(most, setup.letter_bytes_max);
  if (!place.topics.users.empty()) most = std::min(most, setup.user_bytes_max);
  // librdkafka takes no batch.size of 0.
  if (most < in_force) writing.properties[batch_size] = std::to_string(std::max<std::size_t>(most, 1));
  return writing;
}

}  // namespace nustream::attach
