// Collects what becomes of records that were given to a producer, and what its connections complain about.
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

/// The client library fills it on whichever thread serves its reports. So every function may be called from any
/// thread.
class ProducerReports {
 public:
  /// Has the client of this configuration report here. The object outlives that client.
  void listen(rd_kafka_conf_s& configuration);

  /// Forgets what became of the last transaction's records.
  void begin_transaction();
  /// Forgets the complaint, since something went well after it.
  void all_is_well();

  /// Why the first unwritten record of the transaction was not written, and for which topic it was meant.
  [[nodiscard]] std::optional<Error> refusal() const;
  /// True where the library dropped records of the transaction, which it does once the transaction has failed.
  [[nodiscard]] bool dropped() const;
  /// What the connections have complained about last.
  [[nodiscard]] std::optional<Error> complaint() const;
  /// The offset of the last record that was written to the topic; nothing before the first.
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
