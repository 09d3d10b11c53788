// The callbacks of a producer. librdkafka calls them where the client is polled or flushed, which happens on the
// thread of a background call and on the caller's own; so every member takes the mutex. Reports of a transaction are
// kept until the next one begins.
#include "kafka/producer_reports.h"

#include <librdkafka/rdkafka.h>

#include <utility>

#include "kafka/client.h"

namespace nustream::kafka {
namespace {

/// What became of one record. Offsets are only known for records that a broker has written.
void report_delivery(rd_kafka_t* /*client*/, const rd_kafka_message_t* message, void* opaque) {
  auto& reports = *static_cast<ProducerReports*>(opaque);
  const char* topic = rd_kafka_topic_name(message->rkt);
  switch (message->err) {
    case RD_KAFKA_RESP_ERR_NO_ERROR:
      if (message->offset >= 0) reports.written(topic, message->offset);
      return;
    case RD_KAFKA_RESP_ERR__PURGE_QUEUE:
    case RD_KAFKA_RESP_ERR__PURGE_INFLIGHT:
      return reports.dropped_one();  // by an abort, or after an error of the transaction: no broker refused it
    default:
      Error error = error_of(message->err);
      error.topic = topic;
      reports.refused(std::move(error));
  }
}

/// What a connection complains about; it ends nothing by itself.
void report_error(rd_kafka_t* /*client*/, int code, const char* reason, void* opaque) {
  static_cast<ProducerReports*>(opaque)->complained(error_of(code, reason));
}

}  // namespace

void ProducerReports::listen(rd_kafka_conf_s& configuration) {
  // The library gives this pointer back to each callback.
  rd_kafka_conf_set_opaque(&configuration, this);
  rd_kafka_conf_set_dr_msg_cb(&configuration, report_delivery);
  rd_kafka_conf_set_error_cb(&configuration, report_error);
}

void ProducerReports::begin_transaction() {
  const std::lock_guard lock(mutex_);
  // The offsets stay: last_offset() is about all transactions so far.
  refusal_.reset();
  dropped_ = false;
}

void ProducerReports::all_is_well() {
  const std::lock_guard lock(mutex_);
  complaint_.reset();
}

std::optional<Error> ProducerReports::refusal() const {
  const std::lock_guard lock(mutex_);
  return refusal_;
}

bool ProducerReports::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

std::optional<Error> ProducerReports::complaint() const {
  const std::lock_guard lock(mutex_);
  return complaint_;
}

std::optional<Offset> ProducerReports::last_offset(std::string_view topic) const {
  const std::lock_guard lock(mutex_);
  const auto found = offsets_.find(topic);
  if (found == offsets_.end()) return std::nullopt;
  return Offset{found->second};
}

void ProducerReports::written(std::string_view topic, std::int64_t offset) {
  const std::lock_guard lock(mutex_);
  const auto found = offsets_.find(topic);
  if (found == offsets_.end()) {
    offsets_.emplace(topic, offset);
  } else {
    found->second = offset;
  }
}

void ProducerReports::refused(Error error) {
  const std::lock_guard lock(mutex_);
  // The first refusal is the cause. Those that follow are mostly its consequences.
  if (!refusal_) refusal_ = std::move(error);
}

void ProducerReports::dropped_one() {
  const std::lock_guard lock(mutex_);
  dropped_ = true;
}

void ProducerReports::complained(Error error) {
  const std::lock_guard lock(mutex_);
  // A complaint that explains more than a later one is kept.
  complaint_ = telling_more(std::exchange(complaint_, {}), std::move(error));
}

}  // namespace nustream::kafka
