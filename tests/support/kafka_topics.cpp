#include "kafka_topics.h"

#include <librdkafka/rdkafka.h>

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>

#include "kafka_client.h"

namespace nustream::tests {
namespace {

using namespace std::chrono_literals;
using Queue = std::unique_ptr<rd_kafka_queue_t, decltype(&rd_kafka_queue_destroy)>;
using Event = std::unique_ptr<rd_kafka_event_t, decltype(&rd_kafka_event_destroy)>;

constexpr auto time_max = 300s;  // this is no bound on speed: it ends a test that hangs

void require(rd_kafka_resp_err_t code, const std::string& attempt) {
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) throw std::runtime_error(attempt + ": " + rd_kafka_err2str(code));
}

// Sends one request and waits for its answer.
Event ask(const std::string& bootstrap, const std::string& attempt,
          const std::function<void(rd_kafka_t*, rd_kafka_queue_t*)>& send) {
  const TestClient client(RD_KAFKA_PRODUCER, {{"bootstrap.servers", bootstrap}});
  const Queue answers(rd_kafka_queue_new(client.get()), rd_kafka_queue_destroy);
  send(client.get(), answers.get());
  Event event(rd_kafka_queue_poll(answers.get(), 300'000), rd_kafka_event_destroy);
  if (!event) throw std::runtime_error(attempt + ": no answer");
  require(rd_kafka_event_error(event.get()), attempt);
  return event;
}

void require_topics(const rd_kafka_topic_result_t** results, std::size_t count, const std::string& attempt) {
  for (std::size_t i = 0; i < count; ++i) require(rd_kafka_topic_result_error(results[i]), attempt);
}

int partitions_with_leaders(rd_kafka_t* client, const std::string& topic) {
  rd_kafka_topic_t* handle = rd_kafka_topic_new(client, topic.c_str(), nullptr);
  const rd_kafka_metadata_t* metadata = nullptr;
  const rd_kafka_resp_err_t code = rd_kafka_metadata(client, 0, handle, &metadata, 5000);
  rd_kafka_topic_destroy(handle);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return 0;
  int count = 0;
  for (int i = 0; i < metadata->topics[0].partition_cnt; ++i) count += metadata->topics[0].partitions[i].leader >= 0;
  rd_kafka_metadata_destroy(metadata);
  return count;
}

void wait_for_partitions(const std::string& bootstrap, const std::string& topic, int partitions) {
  const TestClient client(RD_KAFKA_PRODUCER, {{"bootstrap.servers", bootstrap}});
  const auto deadline = std::chrono::steady_clock::now() + time_max;
  while (partitions_with_leaders(client.get(), topic) != partitions) {
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error(topic + ": its partitions do not come");
    std::this_thread::sleep_for(10ms);
  }
}

}  // namespace

void create_topic(const std::string& bootstrap, const std::string& topic, int partitions,
                  const TopicSettings& settings, int replication_factor) {
  const std::string attempt = "create topic " + topic;
  char text[256] = {};
  rd_kafka_NewTopic_t* wanted =
      rd_kafka_NewTopic_new(topic.c_str(), partitions, replication_factor, text, sizeof text);
  if (wanted == nullptr) throw std::runtime_error(attempt + ": " + text);
  for (const auto& [name, value] : settings) rd_kafka_NewTopic_set_config(wanted, name.c_str(), value.c_str());
  const Event event = ask(bootstrap, attempt, [&](rd_kafka_t* client, rd_kafka_queue_t* queue) {
    rd_kafka_CreateTopics(client, &wanted, 1, nullptr, queue);
  });
  rd_kafka_NewTopic_destroy(wanted);
  std::size_t count = 0;
  const auto* result = rd_kafka_event_CreateTopics_result(event.get());
  require_topics(rd_kafka_CreateTopics_result_topics(result, &count), count, attempt);
  wait_for_partitions(bootstrap, topic, partitions);
}

void delete_topic(const std::string& bootstrap, const std::string& topic) {
  const std::string attempt = "delete topic " + topic;
  rd_kafka_DeleteTopic_t* unwanted = rd_kafka_DeleteTopic_new(topic.c_str());
  const Event event = ask(bootstrap, attempt, [&](rd_kafka_t* client, rd_kafka_queue_t* queue) {
    rd_kafka_DeleteTopics(client, &unwanted, 1, nullptr, queue);
  });
  rd_kafka_DeleteTopic_destroy(unwanted);
  std::size_t count = 0;
  const auto* result = rd_kafka_event_DeleteTopics_result(event.get());
  require_topics(rd_kafka_DeleteTopics_result_topics(result, &count), count, attempt);
  wait_for_partitions(bootstrap, topic, 0);
}

void add_partitions(const std::string& bootstrap, const std::string& topic, int partitions) {
  const std::string attempt = "add partitions to " + topic;
  char text[256] = {};
  rd_kafka_NewPartitions_t* wanted =
      rd_kafka_NewPartitions_new(topic.c_str(), static_cast<std::size_t>(partitions), text, sizeof text);
  if (wanted == nullptr) throw std::runtime_error(attempt + ": " + text);
  const Event event = ask(bootstrap, attempt, [&](rd_kafka_t* client, rd_kafka_queue_t* queue) {
    rd_kafka_CreatePartitions(client, &wanted, 1, nullptr, queue);
  });
  rd_kafka_NewPartitions_destroy(wanted);
  std::size_t count = 0;
  const auto* result = rd_kafka_event_CreatePartitions_result(event.get());
  require_topics(rd_kafka_CreatePartitions_result_topics(result, &count), count, attempt);
  wait_for_partitions(bootstrap, topic, partitions);
}

void alter_topic(const std::string& bootstrap, const std::string& topic, const TopicSettings& settings) {
  const std::string attempt = "alter topic " + topic;
  rd_kafka_ConfigResource_t* wanted = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str());
  for (const auto& [name, value] : settings) {
    rd_kafka_ConfigResource_set_config(wanted, name.c_str(), value.c_str());
  }
  const Event event = ask(bootstrap, attempt, [&](rd_kafka_t* client, rd_kafka_queue_t* queue) {
    rd_kafka_AlterConfigs(client, &wanted, 1, nullptr, queue);
  });
  rd_kafka_ConfigResource_destroy(wanted);
  std::size_t count = 0;
  const rd_kafka_ConfigResource_t** results =
      rd_kafka_AlterConfigs_result_resources(rd_kafka_event_AlterConfigs_result(event.get()), &count);
  for (std::size_t i = 0; i < count; ++i) require(rd_kafka_ConfigResource_error(results[i]), attempt);
  std::this_thread::sleep_for(300ms);  // the broker applies what its controller has written within this time
}

void delete_records(const std::string& bootstrap, const std::string& topic, int partition, std::int64_t offset) {
  const std::string attempt = "delete records of " + topic;
  rd_kafka_topic_partition_list_t* list = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(list, topic.c_str(), partition)->offset = offset;
  rd_kafka_DeleteRecords_t* unwanted = rd_kafka_DeleteRecords_new(list);
  rd_kafka_topic_partition_list_destroy(list);
  const Event event = ask(bootstrap, attempt, [&](rd_kafka_t* client, rd_kafka_queue_t* queue) {
    rd_kafka_DeleteRecords(client, &unwanted, 1, nullptr, queue);
  });
  rd_kafka_DeleteRecords_destroy(unwanted);
  const auto* result = rd_kafka_event_DeleteRecords_result(event.get());
  require(rd_kafka_DeleteRecords_result_offsets(result)->elems[0].err, attempt);
}

void reset_group_offset(const std::string& bootstrap, const std::string& group, const std::string& topic,
                        int partition, std::int64_t offset) {
  const TestClient client(RD_KAFKA_CONSUMER, {{"bootstrap.servers", bootstrap}, {"group.id", group}});
  rd_kafka_topic_partition_list_t* list = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(list, topic.c_str(), partition)->offset = offset;
  const rd_kafka_resp_err_t error = rd_kafka_commit(client.get(), list, 0);
  const rd_kafka_resp_err_t of_partition = list->elems[0].err;
  rd_kafka_topic_partition_list_destroy(list);
  for (const rd_kafka_resp_err_t each : {error, of_partition}) {
    if (each != RD_KAFKA_RESP_ERR_NO_ERROR)
      throw std::runtime_error("reset offset: " + std::string(rd_kafka_err2str(each)));
  }
}

void delete_group(const std::string& bootstrap, const std::string& group) {
  const std::string attempt = "delete group " + group;
  rd_kafka_DeleteGroup_t* unwanted = rd_kafka_DeleteGroup_new(group.c_str());
  const Event event = ask(bootstrap, attempt, [&](rd_kafka_t* client, rd_kafka_queue_t* queue) {
    rd_kafka_DeleteGroups(client, &unwanted, 1, nullptr, queue);
  });
  rd_kafka_DeleteGroup_destroy(unwanted);
  std::size_t count = 0;
  const rd_kafka_group_result_t** results =
      rd_kafka_DeleteGroups_result_groups(rd_kafka_event_DeleteGroups_result(event.get()), &count);
  for (std::size_t i = 0; i < count; ++i) {
    if (const rd_kafka_error_t* error = rd_kafka_group_result_error(results[i])) {
      throw std::runtime_error(attempt + ": " + rd_kafka_error_string(error));
    }
  }
}

namespace {

using Right = std::unique_ptr<rd_kafka_AclBinding_t, decltype(&rd_kafka_AclBinding_destroy)>;

rd_kafka_AclOperation_t operation_of(const std::string& name) {
  static const std::map<std::string, rd_kafka_AclOperation_t> operations{
      {"All", RD_KAFKA_ACL_OPERATION_ALL},           {"Read", RD_KAFKA_ACL_OPERATION_READ},
      {"Write", RD_KAFKA_ACL_OPERATION_WRITE},       {"Create", RD_KAFKA_ACL_OPERATION_CREATE},
      {"Describe", RD_KAFKA_ACL_OPERATION_DESCRIBE}, {"DescribeConfigs", RD_KAFKA_ACL_OPERATION_DESCRIBE_CONFIGS}};
  return operations.at(name);
}

template <class Make>
Right made(Make make, const std::string& user, const AccessRight& right) {
  char text[256] = {};
  rd_kafka_AclBinding_t* const binding =
      make(right.to == AccessRight::To::topic ? RD_KAFKA_RESOURCE_TOPIC : RD_KAFKA_RESOURCE_GROUP, right.name.c_str(),
           RD_KAFKA_RESOURCE_PATTERN_LITERAL, ("User:" + user).c_str(), "*", operation_of(right.operation),
           RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW, text, sizeof text);
  if (binding == nullptr) throw std::runtime_error("right to " + right.name + ": " + text);
  return {binding, rd_kafka_AclBinding_destroy};
}

void require(const rd_kafka_error_t* error, const std::string& attempt) {
  if (error != nullptr) throw std::runtime_error(attempt + ": " + rd_kafka_error_string(error));
}

}  // namespace

namespace {

// Asks the broker itself: the controller says that a right is changed before the broker has heard of it.
void wait_for_right(const std::string& bootstrap, const std::string& user, const AccessRight& right, bool granted) {
  const std::string attempt = "the broker's rights to " + right.name;
  const auto deadline = std::chrono::steady_clock::now() + time_max;
  const Right filter = made(rd_kafka_AclBindingFilter_new, user, right);
  for (;;) {
    const Event event = ask(bootstrap, attempt, [&](rd_kafka_t* client, rd_kafka_queue_t* queue) {
      rd_kafka_DescribeAcls(client, filter.get(), nullptr, queue);
    });
    std::size_t count = 0;
    static_cast<void>(rd_kafka_DescribeAcls_result_acls(rd_kafka_event_DescribeAcls_result(event.get()), &count));
    if ((count > 0) == granted) return;
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error(attempt + " do not change");
    std::this_thread::sleep_for(10ms);
  }
}

}  // namespace

void grant_right(const std::string& bootstrap, const std::string& user, const AccessRight& right) {
  const std::string attempt = "grant " + right.operation + " on " + right.name;
  const Right binding = made(rd_kafka_AclBinding_new, user, right);
  const Event event = ask(bootstrap, attempt, [&](rd_kafka_t* client, rd_kafka_queue_t* queue) {
    rd_kafka_AclBinding_t* one = binding.get();
    rd_kafka_CreateAcls(client, &one, 1, nullptr, queue);
  });
  std::size_t count = 0;
  const auto** results = rd_kafka_CreateAcls_result_acls(rd_kafka_event_CreateAcls_result(event.get()), &count);
  for (std::size_t i = 0; i < count; ++i) require(rd_kafka_acl_result_error(results[i]), attempt);
  wait_for_right(bootstrap, user, right, true);
}

void take_right_away(const std::string& bootstrap, const std::string& user, const AccessRight& right) {
  const std::string attempt = "take away " + right.operation + " on " + right.name;
  const Right filter = made(rd_kafka_AclBindingFilter_new, user, right);
  const Event event = ask(bootstrap, attempt, [&](rd_kafka_t* client, rd_kafka_queue_t* queue) {
    rd_kafka_AclBindingFilter_t* one = filter.get();
    rd_kafka_DeleteAcls(client, &one, 1, nullptr, queue);
  });
  std::size_t count = 0;
  const auto** answers = rd_kafka_DeleteAcls_result_responses(rd_kafka_event_DeleteAcls_result(event.get()), &count);
  for (std::size_t i = 0; i < count; ++i) {
    require(rd_kafka_DeleteAcls_result_response_error(answers[i]), attempt);
    std::size_t taken = 0;
    static_cast<void>(rd_kafka_DeleteAcls_result_response_matching_acls(answers[i], &taken));
    if (taken != 1) throw std::runtime_error(attempt + ": it was not granted");
  }
  wait_for_right(bootstrap, user, right, false);
}

}  // namespace nustream::tests
