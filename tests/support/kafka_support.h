// The product's own Kafka layer in the hands of a test: calls are driven to their end, and errors become failures.
#pragma once

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kafka/client_settings.h"
#include "kafka/partition_reader.h"
#include "kafka/producer.h"

namespace nustream::tests {

inline kafka::ClientSettings settings_for(const std::string& bootstrap, kafka::Properties properties = {}) {
  return {.brokers = bootstrap, .properties = std::move(properties)};
}

/// The deadline of a test's own calls. It is no bound on speed: it ends a test that hangs.
inline kafka::Deadline soon() {
  return kafka::in(std::chrono::minutes(2));
}

/// Waits until `condition` holds. Throws after five minutes, which is no bound on speed: it ends a test that hangs.
inline void wait_until(const std::function<bool()>& condition) {
  const kafka::Deadline deadline = kafka::in(std::chrono::minutes(5));
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("what was waited for did not come");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

/// Makes a call in slices until it is done or has failed.
inline kafka::Progress finish(const std::function<kafka::Progress(kafka::Deadline)>& call,
                              kafka::Deadline deadline = soon()) {
  while (true) {
    kafka::Progress progress = call(deadline);
    if (!progress.is_again()) return progress;
  }
}

/// Makes a call that has to succeed.
inline void succeed(const std::function<kafka::Progress(kafka::Deadline)>& call) {
  const kafka::Progress progress = finish(call);
  if (progress.error() != nullptr) throw std::runtime_error(progress.error()->text);
}

inline std::unique_ptr<kafka::Producer> ready_producer(const std::string& bootstrap, const std::string& id,
                                                       std::vector<std::string> topics,
                                                       kafka::Properties properties = {}) {
  auto producer =
      kafka::transactional_producer(settings_for(bootstrap, std::move(properties)), id, std::move(topics));
  succeed([&](kafka::Deadline deadline) { return producer->init(deadline); });
  return producer;
}

inline void begin(kafka::Producer& producer) {
  if (const auto error = producer.begin()) throw std::runtime_error(error->text);
}

/// Sends a value to partition 0. Waits while the client's queue is full.
inline void produce(kafka::Producer& producer, const std::string& topic, const std::string& value) {
  while (const auto error = producer.produce({.topic = topic, .value = value})) {
    if (error->cause != kafka::Cause::queue_full) throw std::runtime_error(error->text);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

inline void commit(kafka::Producer& producer) {
  succeed([&](kafka::Deadline deadline) { return producer.commit(deadline); });
}

inline void abort(kafka::Producer& producer) {
  succeed([&](kafka::Deadline deadline) { return producer.abort(deadline); });
}

/// Metadata for transactions that commit a group's offsets from outside the group, as a program without members does.
inline kafka::GroupMetadata metadata_of_nobody(const std::string& group) {
  return kafka::GroupMetadata(rd_kafka_consumer_group_metadata_new(group.c_str()));
}

/// The last stable offset of partition 0.
inline std::int64_t stable_end(const std::string& bootstrap, const std::string& topic) {
  kafka::PartitionReader reader(settings_for(bootstrap), kafka::Isolation::read_committed, "stable-end");
  return reader.watermarks({topic, kafka::PartitionIndex{0}}, soon()).high.value();
}

}  // namespace nustream::tests
