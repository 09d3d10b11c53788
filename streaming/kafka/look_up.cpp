// Questions that librdkafka answers in one call, repeated until a deadline. The library's calls say only that time is
// over. Why nobody answers is told by the errors in the client's queue, which are read between two attempts.
#include "kafka/look_up.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <thread>
#include <utility>

namespace nustream::kafka {
namespace {

using MetadataHandle = std::unique_ptr<const rd_kafka_metadata_t, decltype(&rd_kafka_metadata_destroy)>;

// The first attempts are short, so that a refusal to let the client in is noticed soon. Later ones are longer, for
// brokers that are slow to answer.
constexpr int first_attempt_milliseconds = 500;
constexpr int longest_attempt_milliseconds = 8000;
constexpr std::chrono::milliseconds between_questions{50};

/// Partitions may differ in how often they are replicated; the least counts.
TopicShape shape_of(const rd_kafka_metadata_topic_t& topic) {
  TopicShape shape{topic.partition_cnt, std::numeric_limits<std::int32_t>::max()};
  for (int i = 0; i < topic.partition_cnt; ++i) {
    shape.replication_factor = std::min(shape.replication_factor, topic.partitions[i].replica_cnt);
  }
  return shape;
}

}  // namespace

void ask_until(const Client& client, const std::string& attempt, Deadline deadline,
               const std::function<std::optional<Error>(int milliseconds)>& call) {
  std::optional<Error> complaint;
  for (int time = first_attempt_milliseconds;; time = std::min(2 * time, longest_attempt_milliseconds)) {
    give_up_if_cancelled(client);
    // At least 1 ms, also at the deadline, so that each question is asked once.
    std::optional<Error> error = call(std::clamp(milliseconds_until(deadline), 1, time));
    if (!error) return;
    if (const auto waiting = waiting_complaint(client)) complaint = telling_more(complaint, *waiting);
    if (complaint && complaint->cause == Cause::authentication) throw KafkaFailure(attempt, *complaint);
    if (error->remedy != Remedy::call_again) throw KafkaFailure(attempt, *std::move(error));
    // A complaint says why nothing answers. That tells more than the error that the time is over.
    if (milliseconds_until(deadline) == 0) throw KafkaFailure(attempt, complaint ? *complaint : *std::move(error));
    std::this_thread::sleep_until(std::min(deadline, in(between_questions)));
  }
}

std::optional<TopicShape> topic_shape(const Client& client, const std::string& topic, Deadline deadline) {
  const TopicHandle handle(rd_kafka_topic_new(client.handle.get(), topic.c_str(), nullptr));
  std::optional<TopicShape> shape;
  ask_until(client, "look up topic '" + topic + "'", deadline, [&](int milliseconds) -> std::optional<Error> {
    const rd_kafka_metadata_t* raw = nullptr;
    const rd_kafka_resp_err_t code = rd_kafka_metadata(client.handle.get(), 0, handle.get(), &raw, milliseconds);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(code);
    const MetadataHandle metadata(raw, rd_kafka_metadata_destroy);
    // An answer without the topic is no answer yet, and the question is asked again.
    if (metadata->topic_cnt != 1) return error_of(RD_KAFKA_RESP_ERR__WAIT_CACHE);
    const rd_kafka_metadata_topic_t& answer = metadata->topics[0];
    // Nothing of that name is an answer, and no failure.
    if (answer.err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) return std::nullopt;
    if (answer.err != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(answer.err);
    shape = shape_of(answer);
    return std::nullopt;
  });
  return shape;
}

std::size_t group_members(const Client& client, const std::string& group, Deadline deadline) {
  std::size_t members = 0;
  ask_until(client, "look up group " + group, deadline, [&](int milliseconds) -> std::optional<Error> {
    const struct rd_kafka_group_list* raw = nullptr;
    const rd_kafka_resp_err_t code = rd_kafka_list_groups(client.handle.get(), group.c_str(), &raw, milliseconds);
    const std::unique_ptr<const struct rd_kafka_group_list, decltype(&rd_kafka_group_list_destroy)> groups(
        raw, rd_kafka_group_list_destroy);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(code);
    // Set back for each attempt, which counts from the beginning.
    members = 0;
    for (int i = 0; i < groups->group_cnt; ++i) {
      if (groups->groups[i].err != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(groups->groups[i].err);
      members += static_cast<std::size_t>(groups->groups[i].member_cnt);
    }
    return std::nullopt;
  });
  return members;
}

}  // namespace nustream::kafka
