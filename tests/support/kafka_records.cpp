#include "kafka_records.h"

#include <librdkafka/rdkafka.h>

#include <chrono>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "kafka_client.h"

namespace nustream::tests {
namespace {

void set_bytes(rd_kafka_vu_t& part, rd_kafka_vtype_t type, const std::optional<std::string>& bytes) {
  part.vtype = type;
  part.u.mem.ptr = bytes ? const_cast<char*>(bytes->c_str()) : nullptr;
  part.u.mem.size = bytes ? bytes->size() : 0;
}

rd_kafka_headers_t* headers_of(const StoredRecord& record) {
  rd_kafka_headers_t* headers = rd_kafka_headers_new(record.headers.size());
  for (const auto& [name, value] : record.headers) {
    rd_kafka_header_add(headers, name.c_str(), static_cast<ssize_t>(name.size()), value ? value->c_str() : nullptr,
                        value ? static_cast<ssize_t>(value->size()) : 0);
  }
  return headers;
}

StoredRecord stored(const rd_kafka_message_t& message) {
  StoredRecord record;
  if (message.key != nullptr) record.key = std::string(static_cast<const char*>(message.key), message.key_len);
  if (message.payload != nullptr) record.value = std::string(static_cast<const char*>(message.payload), message.len);
  record.offset = message.offset;
  record.milliseconds = rd_kafka_message_timestamp(&message, nullptr);
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return record;
  const char* name = nullptr;
  const void* bytes = nullptr;
  std::size_t size = 0;
  for (std::size_t i = 0; rd_kafka_header_get_all(headers, i, &name, &bytes, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
       ++i) {
    std::optional<std::string> value;
    if (bytes != nullptr) value = std::string(static_cast<const char*>(bytes), size);
    record.headers.emplace_back(name, std::move(value));
  }
  return record;
}

// Looks the topic up. Otherwise the first fetch waits for the library's scan of its topics, which comes once a
// second.
void look_up(rd_kafka_t* client, const std::string& topic) {
  rd_kafka_topic_t* handle = rd_kafka_topic_new(client, topic.c_str(), nullptr);
  const rd_kafka_metadata_t* metadata = nullptr;
  if (rd_kafka_metadata(client, 0, handle, &metadata, 10'000) == RD_KAFKA_RESP_ERR_NO_ERROR) {
    rd_kafka_metadata_destroy(metadata);
  }
  rd_kafka_topic_destroy(handle);
}

std::vector<StoredRecord> read_records(const std::string& bootstrap, const std::string& topic, int partition,
                                       const char* isolation) {
  const TestClient client(RD_KAFKA_CONSUMER, {{"bootstrap.servers", bootstrap},
                                              {"group.id", "reader-of-the-tests"},
                                              {"isolation.level", isolation},
                                              {"enable.partition.eof", "true"},
                                              {"enable.auto.commit", "false"},
                                              {"auto.offset.reset", "earliest"},
                                              {"fetch.wait.max.ms", "10"}});
  rd_kafka_poll_set_consumer(client.get());
  look_up(client.get(), topic);
  rd_kafka_topic_partition_list_t* list = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(list, topic.c_str(), partition)->offset = RD_KAFKA_OFFSET_BEGINNING;
  rd_kafka_assign(client.get(), list);
  rd_kafka_topic_partition_list_destroy(list);
  std::vector<StoredRecord> records;
  while (true) {
    rd_kafka_message_t* message = rd_kafka_consumer_poll(client.get(), 30'000);
    if (message == nullptr) throw std::runtime_error("read " + topic + ": no end within 30 s");
    const rd_kafka_resp_err_t code = message->err;
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) records.push_back(stored(*message));
    rd_kafka_message_destroy(message);
    if (code == RD_KAFKA_RESP_ERR__PARTITION_EOF) return records;
    if (code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) throw std::runtime_error("read " + topic + ": not there");
  }
}

}  // namespace

void produce(rd_kafka_s* client, const std::string& topic, int partition, const StoredRecord& record) {
  rd_kafka_vu_t parts[7] = {};
  parts[0].vtype = RD_KAFKA_VTYPE_TOPIC;
  parts[0].u.cstr = topic.c_str();
  parts[1].vtype = RD_KAFKA_VTYPE_PARTITION;
  parts[1].u.i32 = partition;
  parts[2].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
  parts[2].u.i = RD_KAFKA_MSG_F_COPY | RD_KAFKA_MSG_F_BLOCK;
  set_bytes(parts[3], RD_KAFKA_VTYPE_KEY, record.key);
  set_bytes(parts[4], RD_KAFKA_VTYPE_VALUE, record.value);
  parts[5].vtype = RD_KAFKA_VTYPE_HEADERS;
  parts[5].u.headers = headers_of(record);
  parts[6].vtype = RD_KAFKA_VTYPE_TIMESTAMP;
  parts[6].u.i64 = record.milliseconds;
  if (rd_kafka_error_t* error = rd_kafka_produceva(client, parts, 7)) {
    throw std::runtime_error("write to " + topic + ": " + rd_kafka_error_string(error));
  }
}

void write_records(const std::string& bootstrap, const std::string& topic, int partition,
                   const std::vector<StoredRecord>& records) {
  const TestClient client(RD_KAFKA_PRODUCER, {{"bootstrap.servers", bootstrap}, {"enable.idempotence", "true"}});
  look_up(client.get(), topic);
  for (const StoredRecord& record : records) produce(client.get(), topic, partition, record);
  if (rd_kafka_flush(client.get(), 60'000) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    throw std::runtime_error("write to " + topic + ": not all records were taken within 60 s");
  }
}

void write_values(const std::string& bootstrap, const std::string& topic, int partition,
                  const std::vector<std::string>& values) {
  std::vector<StoredRecord> records;
  for (const std::string& value : values) records.push_back({.value = value});
  write_records(bootstrap, topic, partition, records);
}

std::vector<StoredRecord> read_committed_records(const std::string& bootstrap, const std::string& topic,
                                                 int partition) {
  return read_records(bootstrap, topic, partition, "read_committed");
}

std::vector<StoredRecord> read_uncommitted_records(const std::string& bootstrap, const std::string& topic,
                                                   int partition) {
  return read_records(bootstrap, topic, partition, "read_uncommitted");
}

std::vector<StoredRecord> wait_for_committed_records(const std::string& bootstrap, const std::string& topic,
                                                     std::size_t count, int partition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  while (true) {
    std::vector<StoredRecord> records = read_committed_records(bootstrap, topic, partition);
    if (records.size() >= count) return records;
    if (std::chrono::steady_clock::now() > deadline) {
      throw std::runtime_error(topic + ": " + std::to_string(records.size()) + " committed records, not " +
                               std::to_string(count));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

std::vector<std::string> values_of(const std::vector<StoredRecord>& records) {
  std::vector<std::string> values;
  for (const StoredRecord& record : records) values.push_back(record.value.value_or("(null)"));
  return values;
}

}  // namespace nustream::tests
