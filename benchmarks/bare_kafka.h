// librdkafka alone, as a program would use it that does nothing with its records; attach is measured against this.
// The clients have the settings that the product gives its own, so that the library's defaults decide nothing.
#pragma once

#include <librdkafka/rdkafka.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kafka_client.h"

namespace nustream::benchmarks {

/// Hands a record to a producer, for partition 0 of a topic. It copies the record, waits where the queue is full, and
/// throws on errors.
void send(rd_kafka_t* producer, const std::string& topic, std::string_view value,
          std::optional<std::string_view> key = {});

/// Reads the committed records of partition 0 of a topic from its beginning. It has no group and makes no commits of
/// its own.
class BareConsumer {
 public:
  BareConsumer(const std::string& brokers, const std::string& topic);
  /// The next record, or null where none comes in time. The caller destroys it.
  [[nodiscard]] rd_kafka_message_t* poll(int milliseconds);
  [[nodiscard]] rd_kafka_t* get() const noexcept { return client_.get(); }

 private:
  tests::TestClient client_;
};

/// Writes in transactions, one call after the other. Every error throws and so ends the benchmark.
class BareTransactions {
 public:
  BareTransactions(const std::string& brokers, const std::string& transactional_id,
                   const std::vector<std::string>& topics);

  void begin();
  /// Writes to partition 0, and copies the bytes.
  void produce(const std::string& topic, std::string_view value, std::optional<std::string_view> key = {});
  /// `next` is the offset of the next record of partition 0 of `topic`, for `consumer`'s group.
  void send_offset(const BareConsumer& consumer, const std::string& topic, std::int64_t next);
  void commit();

 private:
  tests::TestClient client_;
};

/// Consumes all of the topic.
void consume(const std::string& brokers, const std::string& topic, std::size_t records);

/// How much one transaction writes to NAME.state, NAME.ledger and NAME.releases, besides the offset.
struct TransactionSize {
  std::size_t state_bytes;
  std::size_t ledger_bytes;
  std::size_t releases;
  std::size_t release_bytes;
};

/// The sizes of a typical transaction of attach, as medians over its topics. `releases` is left at 1.
[[nodiscard]] TransactionSize size_written(const std::string& brokers, const std::string& name);

/// Consumes `records` of `input` in batches, and for each commits a transaction of `size` to the topics of `name`. As
/// with attach, the ledger's lines say how far it was.
void consume_produce_commit(const std::string& brokers, const std::string& input, const std::string& name,
                            std::size_t records, std::size_t batch, const TransactionSize& size);

/// Consumes `input` until told to stop. It closes a batch `batch_milliseconds` after its first record, and commits it
/// with one release for each of its records, and with a state and a ledger line unless their sizes are 0. Returns how
/// long each transaction took, from begin to the end of commit, in seconds.
std::vector<double> echo(const std::string& brokers, const std::string& input, const std::string& name,
                         double batch_milliseconds, const TransactionSize& size,
                         const std::atomic<bool>& told_to_stop);

/// A line of about `bytes` that has `"key":value` where releases and ledger lines have it.
[[nodiscard]] std::string line_with(std::string_view key, std::uint64_t value, std::size_t bytes);
/// The number after `"key":`. Throws where there is none.
[[nodiscard]] std::uint64_t number_in(std::string_view line, std::string_view key);

}  // namespace nustream::benchmarks
