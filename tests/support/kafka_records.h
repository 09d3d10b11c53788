// Records of a partition, written and read by a bare client of the tests' own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

struct rd_kafka_s;

namespace nustream::tests {

/// A record as tests write and find it. Null bytes are nothing; an empty string is empty.
struct StoredRecord {
  std::optional<std::string> key{};
  std::optional<std::string> value{};
  std::vector<std::pair<std::string, std::optional<std::string>>> headers{};
  std::int64_t milliseconds = 0;  ///< since 1970; 0: now, when written
  std::int64_t offset = -1;       ///< when read
};

/// Hands a record to a producer, which sends it when it will; waits while its queue is full.
void produce(rd_kafka_s* producer, const std::string& topic, int partition, const StoredRecord& record);
/// Writes the records without a transaction, in order, and waits until they are there.
void write_records(const std::string& bootstrap, const std::string& topic, int partition,
                   const std::vector<StoredRecord>& records);
/// The same for values alone.
void write_values(const std::string& bootstrap, const std::string& topic, int partition,
                  const std::vector<std::string>& values);

/// Every record that is in the partition now, in order of offsets: committed ones, or all of them.
[[nodiscard]] std::vector<StoredRecord> read_committed_records(const std::string& bootstrap, const std::string& topic,
                                                               int partition = 0);
[[nodiscard]] std::vector<StoredRecord> read_uncommitted_records(const std::string& bootstrap,
                                                                 const std::string& topic, int partition = 0);

/// Committed records once there are at least `count`: a commit is done before its records are readable, by the moment
/// that the broker takes to mark its end in every partition. Throws after five minutes.
[[nodiscard]] std::vector<StoredRecord> wait_for_committed_records(const std::string& bootstrap,
                                                                   const std::string& topic, std::size_t count,
                                                                   int partition = 0);

/// Their values, "(null)" for null.
[[nodiscard]] std::vector<std::string> values_of(const std::vector<StoredRecord>& records);

}  // namespace nustream::tests
