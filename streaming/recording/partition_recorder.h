// Records one partition of a topic into a file.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "decode/message.h"
#include "kafka/client_settings.h"
#include "kafka/partition.h"
#include "kafka/partition_reader.h"
#include "recording/segment_writer.h"

namespace nustream::recording {

/// Where the records come from.
struct Source {
  kafka::ClientSettings client;
  std::string group;  ///< the group is named, but never joined
  kafka::TopicPartition partition;
  std::chrono::milliseconds give_up;  ///< how long to wait for a broker that is away
};

/// Takes the committed records from where a recording ends to its stop. To be used by one thread.
class PartitionRecorder {
 public:
  /// `writer` has to outlive it.
  PartitionRecorder(Source source, SegmentWriter& writer);

  /// Records until the stop is reached or `told_to_stop` is true, and ends the file in order. It waits for a broker
  /// that is away. Throws Failure, which leaves the file without its end marker: KafkaFailure where the broker was
  /// away for too long or the error does not pass by waiting, Failure(data) where records are gone.
  void run(const std::atomic<bool>& told_to_stop);

 private:
  void connect();
  void check_log(const kafka::Watermarks& log) const;
  [[nodiscard]] bool read_slice();
  void use(const kafka::Message& message);
  void wait_out(const kafka::Error& error);

  Source source_;
  SegmentWriter& writer_;
  std::unique_ptr<kafka::PartitionReader> reader_;
  decode::MessageBatch one_;
  std::chrono::steady_clock::time_point broker_seen_;
  std::chrono::steady_clock::time_point block_closed_;
};

}  // namespace nustream::recording
