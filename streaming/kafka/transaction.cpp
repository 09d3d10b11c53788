// The phases of one transaction. Each call of advance() does a slice of the present phase and enters the next one, so
// that the lanes of a process share a few threads. The failpoints are for tests, which kill the process or abort
// there.
#include "kafka/transaction.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <thread>

#include "journal/failpoint.h"
#include "nustream/base/error.h"

namespace nustream::kafka {
namespace {

constexpr std::chrono::milliseconds between_polls{2};
// How long the transaction waits for records that go ahead. It is short, since they hold up the others.
constexpr std::chrono::milliseconds ahead_max{5'000};

}  // namespace

Transaction::Transaction(Producer& producer, const LanePlace& place, const TransactionContent& content,
                         const GroupMetadata* member, std::chrono::milliseconds time)
    : producer_(producer), place_(place), content_(content), member_(member), time_(time), deadline_(in(time)) {
  NUSTREAM_REQUIRE(!content.offset || (member != nullptr && *member != nullptr),
                   "offsets are committed as a member of the group");
}

Progress Transaction::advance() {
  switch (phase_) {
    case Phase::begin:
      return begin();
    case Phase::offsets:
      return send_offsets();
    case Phase::ahead:
    case Phase::produce:
      return produce();
    case Phase::arrive:
      return arrive();
    case Phase::commit:
      return finish(producer_.commit(deadline_));
    case Phase::abort:
      break;
  }
  // The error that led here is told only when the abort is done: until then nobody may send the batch again.
  const Progress progress = producer_.abort(deadline_);
  if (progress.is_again()) return Progress::again();
  if (const Error* const error = progress.error()) return Progress::failed(*error);
  NUSTREAM_FAILPOINT("after-abort-transaction");
  return Progress::failed(*aborting_);
}

Progress Transaction::begin() {
  if (const auto error = producer_.begin()) return Progress::failed(*error);  // no transaction was begun
  NUSTREAM_FAILPOINT("after-begin-transaction");
  if (!content_.offset) return first_records();
  phase_ = Phase::offsets;
  return send_offsets();
}

// Offsets are sent before the records. While a broker still marks the end of the transaction before, it refuses
// whatever comes first. The client library tries refused offsets again after retry.backoff.ms (2 ms here), but
// refused records after 20 ms.
Progress Transaction::send_offsets() {
  Progress progress = producer_.send_offsets(place_.topics.input, {&*content_.offset, 1}, *member_, deadline_);
  if (progress.is_again()) return progress;
  if (progress.error() != nullptr) return after_error(*progress.error());
  NUSTREAM_FAILPOINT("after-send-offsets");
  return first_records();
}

Progress Transaction::first_records() {
  phase_ = content_.ahead > 0 ? Phase::ahead : Phase::produce;
  return produce();
}

Progress Transaction::produce() {
  const bool go_ahead = phase_ == Phase::ahead;
  const std::size_t end = go_ahead ? content_.ahead : content_.records.size();
  while (produced_ < end) {
    const auto error = producer_.produce(content_.records[produced_]);
    // The client is full. Records that are sent meanwhile make room, so that the same record is tried again.
    if (error && (error->cause == Cause::queue_full || error->remedy == Remedy::call_again)) {
      if (std::chrono::steady_clock::now() >= deadline_) return after_error(*error);
      std::this_thread::sleep_for(between_polls);
      return Progress::again();
    }
    if (error) return after_error(*error);
    if (++produced_ == content_.ahead + 1) NUSTREAM_FAILPOINT("after-produce-state");
  }
  if (go_ahead) {
    phase_ = Phase::arrive;
    arrive_by_ = std::min(deadline_, in(ahead_max));
    return arrive();
  }
  // Tests abort here: every record is written, and nothing is committed.
  if (NUSTREAM_ABORTPOINT("after-produce")) return after_error(error_of(RD_KAFKA_RESP_ERR__STATE));
  phase_ = Phase::commit;
  return Progress::again();
}

/// Waits for the records that go ahead. No other records are in the transaction yet, so that any error is theirs,
/// whether or not it names their topic.
Progress Transaction::arrive() {
  Progress progress = producer_.arrive(arrive_by_);
  if (progress.is_again()) return progress;
  if (progress.error() != nullptr) {
    Error error = *progress.error();
    error.topic = content_.records.front().topic;
    return after_error(error);
  }
  phase_ = Phase::produce;
  return produce();
}

Progress Transaction::finish(Progress progress) {
  if (progress.error() != nullptr) return after_error(*progress.error());
  if (progress.is_done()) NUSTREAM_FAILPOINT("after-commit-transaction");
  return progress;
}

/// Decides what follows an error. A record that could not be added, or a lost membership, leaves a transaction open,
/// which is aborted here. After an error that only a new producer can mend, the transaction is left as it is.
Progress Transaction::after_error(const Error& error) {
  if (error.remedy == Remedy::new_client) return Progress::failed(error);
  aborting_ = error;
  aborting_->remedy = Remedy::abort_transaction;
  // The abort gets a time of its own. The deadline of the transaction may have passed.
  deadline_ = in(time_);
  phase_ = Phase::abort;
  return Progress::again();
}

}  // namespace nustream::kafka
