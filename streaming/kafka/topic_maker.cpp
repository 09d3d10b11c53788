// Makes one topic by librdkafka's admin calls. A topic that is there already is left as it is: somebody may have
// given it other settings on purpose.
#include "kafka/topic_maker.h"

#include <librdkafka/rdkafka.h>

#include <array>
#include <memory>

#include "kafka/client.h"
#include "kafka/look_up.h"

namespace nustream::kafka {
namespace {

struct DestroyNewTopic {
  void operator()(rd_kafka_NewTopic_t* topic) const noexcept { rd_kafka_NewTopic_destroy(topic); }
};

/// The error of the request or of the one topic in it; nothing where it was made.
std::optional<Error> error_in(rd_kafka_event_t* event) {
  if (const auto code = rd_kafka_event_error(event); code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return error_of(code, rd_kafka_event_error_string(event));
  }
  std::size_t count = 0;
  const auto* results = rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);
  if (count != 1) return error_of(RD_KAFKA_RESP_ERR__FAIL);
  const auto code = rd_kafka_topic_result_error(results[0]);
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return std::nullopt;
  const char* text = rd_kafka_topic_result_error_string(results[0]);
  return error_of(code, text != nullptr ? text : "");
}

}  // namespace

bool make_topic(const ClientSettings& settings, const NewTopic& topic, Deadline deadline) {
  const Client client = new_consumer(settings, Role::committed_reader, {});
  const std::string attempt = "make topic " + topic.name;
  std::array<char, 256> text{};
  const std::unique_ptr<rd_kafka_NewTopic_t, DestroyNewTopic> wanted(rd_kafka_NewTopic_new(
      topic.name.c_str(), topic.partitions, topic.replication_factor, text.data(), text.size()));
  if (!wanted)
    throw Failure(Exit::configuration,
                  attempt + ": " + text.data() + "; correct its name, --partitions or --replication");
  for (const auto& [name, value] : topic.settings) {
    rd_kafka_NewTopic_set_config(wanted.get(), name.c_str(), value.c_str());
  }
  bool made = true;
  ask_until(client, attempt, deadline, [&](int milliseconds) -> std::optional<Error> {
    // An answer that comes late finds no queue any more. The next attempt then learns that the topic exists.
    const QueueHandle answers(rd_kafka_queue_new(client.handle.get()));
    rd_kafka_NewTopic_t* topics[] = {wanted.get()};
    rd_kafka_CreateTopics(client.handle.get(), topics, 1, nullptr, answers.get());
    const EventHandle event(rd_kafka_queue_poll(answers.get(), milliseconds));
    if (!event) return error_of(RD_KAFKA_RESP_ERR__TIMED_OUT);
    std::optional<Error> error = error_in(event.get());
    if (error && error->code == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) {
      made = false;
      return std::nullopt;
    }
    // The broker has fewer brokers than replicas are asked for. That does not change by waiting, and the advice is
    // another one than for other errors.
    if (error && error->code == RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR) {
      throw Failure(Exit::configuration,
                    "cannot " + attempt + ": " + error->text + " Give a --replication of no more than the brokers.");
    }
    return error;
  });
  return made;
}

}  // namespace nustream::kafka
