// The reader of whole partitions, on the simulated broker.
#include "kafka/interruption.h"
#include "simulated_broker.h"
#include "simulated_kafka.h"

namespace nustream::kafka {

class PartitionReader::Implementation {
 public:
  explicit Implementation(Isolation isolation) : isolation_(isolation) {}

  void enter(const char* attempt) const {
    broker().enter_call();
    if (!broker().is_away() && !broker().chance(broker().faults.unavailable / 8)) return;
    broker().count("a question without an answer");
    throw KafkaFailure(attempt, error(Cause::unavailable, Remedy::call_again, "no broker"));
  }
  [[nodiscard]] std::int64_t end_of(const Place& place) const {
    return isolation_ == Isolation::read_committed ? broker().last_stable(place) : broker().end(place);
  }

  Isolation isolation_;
};

PartitionReader::PartitionReader(const ClientSettings& /*settings*/, Isolation isolation,
                                 const std::string& /*group*/)
    : implementation_(std::make_unique<Implementation>(isolation)) {}
PartitionReader::~PartitionReader() = default;

Watermarks PartitionReader::watermarks(const TopicPartition& partition, Deadline /*deadline*/) {
  implementation_->enter("look up the ends");
  return {Offset{0}, Offset{implementation_->end_of(place_of(partition))}};
}

std::optional<Offset> PartitionReader::offset_at(const TopicPartition& partition, std::int64_t milliseconds,
                                                 Deadline /*deadline*/) {
  const Place place = place_of(partition);
  for (std::int64_t offset = 0; offset < broker().end(place); ++offset) {
    if (broker().log(place)[static_cast<std::size_t>(offset)].milliseconds >= milliseconds) return Offset{offset};
  }
  return std::nullopt;
}

std::optional<Offset> PartitionReader::committed(const TopicPartition& partition, Deadline /*deadline*/) {
  implementation_->enter("look up the committed offset");
  while (!broker().offset_is_stable(place_of(partition))) {
    tests::pass_time(std::chrono::milliseconds(5));
    broker().time_out_one();
    broker().go_on();
  }
  const auto offset = broker().committed_offset(place_of(partition));
  return offset ? std::optional(Offset{*offset}) : std::nullopt;
}

void PartitionReader::start(const TopicPartition&, Offset, Offset) {}
Progress PartitionReader::read(const std::function<void(const Message&)>&, std::chrono::milliseconds) {
  return Progress::done();
}
Offset PartitionReader::position() const noexcept {
  return Offset{0};
}

void PartitionReader::read_all(const TopicPartition& partition, Offset from, Offset end, Deadline deadline,
                               const std::function<void(const Message&)>& take) {
  implementation_->enter("read");
  const Place place = place_of(partition);
  while (implementation_->end_of(place) < end.value()) {
    tests::pass_time(std::chrono::milliseconds(5));
    broker().go_on();
    if (std::chrono::steady_clock::now() < deadline) continue;
    throw KafkaFailure("read", error(Cause::timed_out, Remedy::call_again, "timed out"));
  }
  for (std::int64_t offset = from.value(); offset < end.value(); ++offset) {
    if (!is_readable(place, offset, implementation_->isolation_)) continue;
    Message message;
    message.partition = partition.partition;
    message.record = message_at(place, offset);
    take(message);
  }
}

void PartitionReader::read_patiently(const TopicPartition& partition, Offset from, Offset end,
                                     std::chrono::milliseconds patience,
                                     const std::function<void(const Message&)>& take) {
  read_all(partition, from, end, in(patience), take);
}

}  // namespace nustream::kafka
