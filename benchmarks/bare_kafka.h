// librdkafka alone, as a program would use it that does nothing with its records: what attach is measured against.
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

/// Hands a record to a producer, for partition 0 of a topic; copies it, and waits where the queue is full. Throws.
void send(rd_kafka_t* producer, const std::string& topic, std::string_view value,
          std::optional<std::string_view> key = {});

/// Reads committed records of partition 0 of a topic, from its beginning. No group, no commits of its own.
class BareConsumer {
 public:
  BareConsumer(const std::string& brokers, const std::string& topic);
  /// Null where none comes in time. The caller destroys it.
  [[nodiscard]] rd_kafka_message_t* poll(int milliseconds);
  [[nodiscard]] rd_kafka_t* get() const noexcept { return client_.get(); }

 private:
  tests::TestClient client_;
};

/// Writes in transactions, one call after the other. Every error is the end of the benchmark: throws.
class BareTransactions {
 public:
  BareTransactions(const std::string& brokers, const std::string& transactional_id,
                   const std::vector<std::string>& topics);

  void begin();
  /// To partition 0; copies the bytes.
  void produce(const std::string& topic, std::string_view value, std::optional<std::string_view> key = {});
  /// `next`: offset of the next record of partition 0 of `topic`, for `consumer`'s group.
  void send_offset(const BareConsumer& consumer, const std::string& topic, std::int64_t next);
  void commit();

 private:
  tests::TestClient client_;
};

/// Consumes all of the topic.
void consume(const std::string& brokers, const std::string& topic, std::size_t records);

/// What one transaction writes to NAME.state, NAME.ledger and NAME.releases, beside the offset.
struct TransactionSize {
  std::size_t state_bytes;
  std::size_t ledger_bytes;
  std::size_t releases;
  std::size_t release_bytes;
};

/// Of a typical transaction of attach, as its topics tell: medians. `releases` is left at 1.
[[nodiscard]] TransactionSize size_written(const std::string& brokers, const std::string& name);

/// Consumes `records` of `input` in batches, and commits for each a transaction of `size` to the topics of `name`.
/// The ledger's lines say how far it was, as attach's do.
void consume_produce_commit(const std::string& brokers, const std::string& input, const std::string& name,
                            std::size_t records, std::size_t batch, const TransactionSize& size);

/// Until told to stop: consumes `input`, closes a batch `batch_milliseconds` after its first record, and commits it
/// with one release for each of its records, and a state and a ledger line unless they have no bytes. Returns how
/// long each transaction took, from begin to the end of commit, in seconds.
std::vector<double> echo(const std::string& brokers, const std::string& input, const std::string& name,
                         double batch_milliseconds, const TransactionSize& size,
                         const std::atomic<bool>& told_to_stop);

/// A line of about `bytes` that has `"key":value` where releases and ledger lines have it.
[[nodiscard]] std::string line_with(std::string_view key, std::uint64_t value, std::size_t bytes);
/// The number behind `"key":`. Throws where there is none.
[[nodiscard]] std::uint64_t number_in(std::string_view line, std::string_view key);

}  // namespace nustream::benchmarks
