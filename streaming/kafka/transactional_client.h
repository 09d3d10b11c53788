// librdkafka's transactional calls. Each of them waits until it is over.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "kafka/client_error.h"
#include "kafka/client_settings.h"
#include "kafka/handles.h"
#include "kafka/producer.h"
#include "kafka/producer_reports.h"

struct rd_kafka_topic_partition_list_s;

namespace nustream::kafka {

/// Has the calls of Producer, but those with a deadline wait until they are over or the deadline has passed;
/// send_offsets() may even wait for ever. An error at the deadline has Remedy::new_client, and only produce() returns
/// Remedy::call_again. To be used from one thread at a time, except complaint() and last_offset(), which may be
/// called at any time.
class TransactionalClient {
 public:
  TransactionalClient(const ClientSettings& settings, const std::string& transactional_id);

  [[nodiscard]] std::optional<Error> init(const std::vector<std::string>& topics, Deadline deadline);
  [[nodiscard]] std::optional<Error> begin();
  [[nodiscard]] std::optional<Error> produce(const OutgoingRecord& record);
  [[nodiscard]] std::optional<Error> send_offsets(const rd_kafka_topic_partition_list_s& offsets,
                                                  const rd_kafka_consumer_group_metadata_s& member,
                                                  Deadline deadline);
  [[nodiscard]] std::optional<Error> arrive(Deadline deadline);
  [[nodiscard]] std::optional<Error> commit(Deadline deadline);
  [[nodiscard]] std::optional<Error> abort(Deadline deadline);

  /// Says that a call was done, so that earlier complaints are over.
  void all_is_well() { reports_.all_is_well(); }
  [[nodiscard]] std::optional<Error> complaint();
  [[nodiscard]] std::optional<Offset> last_offset(const std::string& topic) const {
    return reports_.last_offset(topic);
  }

 private:
  [[nodiscard]] ConfigurationHandle configuration(const ClientSettings& settings,
                                                  const std::string& transactional_id);
  void look_up(const std::string& topic, Deadline deadline);
  /// Whether the record is to wait until large ones before it have arrived.
  [[nodiscard]] bool is_to_wait(const OutgoingRecord& record);
  std::optional<Error> commit_what_arrived(Deadline deadline);
  [[nodiscard]] std::optional<Error> repeat(Deadline deadline,
                                            const std::function<rd_kafka_error_s*(int milliseconds)>& call);
  [[nodiscard]] std::optional<Error> explained(const ErrorHandle& handle) const;
  [[nodiscard]] Error explained(const rd_kafka_error_s& error, const OutgoingRecord& record);
  void add_refusal(Error& error) const;
  [[nodiscard]] rd_kafka_topic_s* handle_of(std::string_view topic);

  ProducerReports reports_;  // declared before the client, which fills it until it is destroyed
  Properties properties_;
  ClientHandle client_;
  std::map<std::string, TopicHandle, std::less<>> topics_;
  std::minstd_rand random_{std::random_device{}()};
  int waits_ = 0;  // how often the present record was told to wait
};

/// A copy of the metadata, for a call that may outlive what it was given.
[[nodiscard]] GroupMetadata copy_of(const rd_kafka_consumer_group_metadata_s& member);

}  // namespace nustream::kafka
