// One partition of a topic on its way into a file.
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
#include "record/segment_writer.h"

namespace nustream::recording {

/// Where the records come from.
struct Source {
  kafka::ClientSettings client;
  std::string group;  ///< named, never joined
  kafka::TopicPartition partition;
  std::chrono::milliseconds give_up;  ///< without a broker for so long
};

/// Takes the records that are committed from where a recording is to its stop. One thread.
class PartitionRecorder {
 public:
  /// `writer` has to outlive it.
  PartitionRecorder(Source source, SegmentWriter& writer);

  /// Records until the stop is reached or `told_to_stop`, and ends the file in order. A broker that is away is waited
  /// for. Throws Failure, the file then without its end: KafkaFailure once it was away for too long, for what no
  /// waiting mends, and for records that are gone.
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
