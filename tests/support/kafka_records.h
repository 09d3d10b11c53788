// Records of a partition, written and read by a client of the tests' own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

struct rd_kafka_s;

namespace nustream::tests {

/// A record as tests write and find it. Null bytes are an empty optional, and an empty string is an empty string.
struct StoredRecord {
  std::optional<std::string> key{};
  std::optional<std::string> value{};
  std::vector<std::pair<std::string, std::optional<std::string>>> headers{};
  std::int64_t milliseconds = 0;  ///< since 1970; 0: the time when it is written
  std::int64_t offset = -1;       ///< set when it is read
};

/// Hands a record to a producer, which sends it at a time of its choice. Waits while the producer's queue is full.
void produce(rd_kafka_s* producer, const std::string& topic, int partition, const StoredRecord& record);
/// Writes the records without a transaction, in order, and waits until they are there.
void write_records(const std::string& bootstrap, const std::string& topic, int partition,
                   const std::vector<StoredRecord>& records);
/// Does the same for values alone.
void write_values(const std::string& bootstrap, const std::string& topic, int partition,
                  const std::vector<std::string>& values);

/// Every record that is in the partition now, in the order of offsets: committed ones, or all.
[[nodiscard]] std::vector<StoredRecord> read_committed_records(const std::string& bootstrap, const std::string& topic,
                                                               int partition = 0);
[[nodiscard]] std::vector<StoredRecord> read_uncommitted_records(const std::string& bootstrap,
                                                                 const std::string& topic, int partition = 0);

/// Committed records, once there are at least `count` of them. A commit is done before its records can be read, by
/// the time that the broker takes to mark its end in every partition. Throws after five minutes.
[[nodiscard]] std::vector<StoredRecord> wait_for_committed_records(const std::string& bootstrap,
                                                                   const std::string& topic, std::size_t count,
                                                                   int partition = 0);

/// The values of the records, "(null)" for null.
[[nodiscard]] std::vector<std::string> values_of(const std::vector<StoredRecord>& records);

}  // namespace nustream::tests
