// Reads one partition as a reader of committed records without a group, and gives each record to the writer once.
// After an error a new client goes on at the writer's next offset: the file alone says how far the recording is.
#include "recording/partition_recorder.h"

#include <algorithm>
#include <limits>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "error.h"

namespace nustream::recording {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds slice{100};        // a signal is noticed after this time at most
constexpr milliseconds block_open{1000};  // a crash costs at most the records of this time
constexpr milliseconds pause{200};        // between two attempts to connect
constexpr milliseconds attempt{2000};     // how long a broker has to answer
constexpr milliseconds silence{10'000};   // after this long without a record the broker is asked whether it is there

kafka::Offset offset_of(std::uint64_t offset) {
  return kafka::Offset{static_cast<std::int64_t>(offset)};
}

}  // namespace

PartitionRecorder::PartitionRecorder(Source source, SegmentWriter& writer)
    : source_(std::move(source)), writer_(writer), broker_seen_(Clock::now()), block_closed_(Clock::now()) {}

// Makes a client that goes on where the recording ends, after checking that the log still continues it.
void PartitionRecorder::connect() {
  auto reader =
      std::make_unique<kafka::PartitionReader>(source_.client, kafka::Isolation::read_committed, source_.group);
  check_log(reader->watermarks(source_.partition, kafka::in(attempt)));
  broker_seen_ = Clock::now();
  const std::uint64_t without_stop = std::numeric_limits<std::int64_t>::max();
  reader->start(source_.partition, offset_of(writer_.next()),
                offset_of(writer_.header().stop.value_or(without_stop)));
  reader_ = std::move(reader);
}

void PartitionRecorder::check_log(const kafka::Watermarks& log) const {
  const std::uint64_t next = writer_.next();
  const auto refuse = [&](const std::string& what) {
    throw Failure(Exit::data, fmt::format("partition {} of '{}': {}; record to another folder",
                                          source_.partition.partition.value(), source_.partition.topic, what));
  };
  if (offset_of(next) < log.low) {
    refuse(fmt::format("offsets {} to {} are gone before they were recorded", next, log.low.value() - 1));
  }
  if (log.high < offset_of(next)) {
    refuse(fmt::format("it ends at offset {}, but the recording goes on at {}: the topic was cut or made anew",
                       log.high.value(), next));
  }
}

void PartitionRecorder::run(const std::atomic<bool>& told_to_stop) {
  if (writer_.finished()) return;
  bool done = false;
  while (!done && !told_to_stop) {
    try {
      if (!reader_) connect();
      done = read_slice();
    } catch (const kafka::KafkaFailure& failure) {
      wait_out(failure.error());
    }
    if (Clock::now() - block_closed_ < block_open) continue;
    writer_.close_block();
    block_closed_ = Clock::now();
  }
  // Offsets behind the last record may be transaction markers; the end marker covers them, so that a reader need not
  // wait for records there.
  std::uint64_t reached = 0;
  if (reader_) reached = static_cast<std::uint64_t>(reader_->position().value());
  if (done) reached = writer_.header().stop.value_or(reached);
  writer_.finish(std::max(reached, writer_.next()));
}

// Reads for at most a slice of time. Returns true once nothing is left below the stop.
bool PartitionRecorder::read_slice() {
  const kafka::Progress progress = reader_->read([this](const kafka::Message& message) { use(message); }, slice);
  if (const kafka::Error* error = progress.error()) wait_out(*error);
  // Where no record comes, the topic may be quiet or the broker away; a question for the watermarks tells which.
  if (progress.is_again() && Clock::now() - broker_seen_ > silence) {
    static_cast<void>(reader_->watermarks(source_.partition, kafka::in(attempt)));
    broker_seen_ = Clock::now();
  }
  return progress.is_done();
}

void PartitionRecorder::use(const kafka::Message& message) {
  one_.clear();
  kafka::add_to(one_, message, true);
  writer_.add(one_.messages().front());
  broker_seen_ = Clock::now();
}

void PartitionRecorder::wait_out(const kafka::Error& error) {
  const bool may_pass = error.remedy == kafka::Remedy::call_again || error.remedy == kafka::Remedy::new_client;
  if (!may_pass || Clock::now() - broker_seen_ > source_.give_up) {
    throw kafka::KafkaFailure(
        fmt::format("record partition {} of '{}' from offset {} on", source_.partition.partition.value(),
                    source_.partition.topic, writer_.next()),
        error);
  }
  // The client is thrown away: a question that failed may have taken records from its queue, and the next client
  // reads them again.
  reader_.reset();
  std::this_thread::sleep_for(pause);
}

}  // namespace nustream::recording
