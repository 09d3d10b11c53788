// What becomes of records that were handed to a producer, and what its connections complain of.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "kafka/client_error.h"
#include "kafka/handles.h"
#include "kafka/partition.h"

namespace nustream::kafka {

/// Filled by the client library on whichever thread serves its reports: any thread may call anything.
class ProducerReports {
 public:
  /// Makes a configuration report here. The object outlives the client.
  void listen(rd_kafka_conf_s& configuration);

  /// Forgets what became of the last transaction's records.
  void begin_transaction();
  /// Forgets the complaint: something went well since.
  void all_is_well();

  /// The first record of the transaction that was not written: why, and to which topic.
  [[nodiscard]] std::optional<Error> refusal() const;
  /// True where the library dropped records of the transaction, as it does once that has failed.
  [[nodiscard]] bool dropped() const;
  /// What the connections last complained of.
  [[nodiscard]] std::optional<Error> complaint() const;
  /// Of the last record that was written to the topic.
  [[nodiscard]] std::optional<Offset> last_offset(std::string_view topic) const;

  void written(std::string_view topic, std::int64_t offset);
  void refused(Error error);
  void dropped_one();
  void complained(Error error);

 private:
  mutable std::mutex mutex_;
  std::optional<Error> refusal_;
  bool dropped_ = false;
  std::optional<Error> complaint_;
  std::map<std::string, std::int64_t, std::less<>> offsets_;  // by topic
};

}  // namespace nustream::kafka
