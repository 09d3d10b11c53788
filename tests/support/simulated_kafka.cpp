// The four places where the kafka room speaks to librdkafka, put on the simulated broker: a program that links this
// file links none of theirs. Everything above them is as it is shipped.
#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <utility>

#include "kafka/client.h"
#include "kafka/group_consumer.h"
#include "kafka/interruption.h"
#include "kafka/partition_reader.h"
#include "kafka/producer.h"
#include "simulated_broker.h"
#include "simulated_clock.h"

namespace nustream::kafka {
namespace {

using tests::Place;
using tests::SimulatedBroker;
using tests::SimulatedEntry;
using tests::SimulatedTransaction;

SimulatedBroker& broker() {
  return *SimulatedBroker::current();
}

Error error(Cause cause, Remedy remedy, const char* text, const std::string& topic = {}) {
  return {0, cause, remedy, text, topic};
}

Place place_of(const TopicPartition& partition) {
  return {partition.topic, partition.partition.value()};
}

/// What a transaction shows of the member that it commits for.
std::string bytes_of(const rd_kafka_consumer_group_metadata_t& metadata) {
  const void* buffer = nullptr;
  std::size_t size = 0;
  if (rd_kafka_error_t* failure =
          rd_kafka_consumer_group_metadata_write(&metadata, const_cast<void**>(&buffer), &size)) {
    rd_kafka_error_destroy(failure);
    return {};
  }
  std::string bytes(static_cast<const char*>(buffer), size);
  rd_kafka_mem_free(nullptr, const_cast<void*>(buffer));
  return bytes;
}

GroupMetadata metadata_of(const std::string& member, std::int64_t generation) {
  return GroupMetadata(rd_kafka_consumer_group_metadata_new_with_genid("group", static_cast<std::int32_t>(generation),
                                                                       member.c_str(), nullptr));
}

bool is_current(const rd_kafka_consumer_group_metadata_t& metadata) {
  const std::string bytes = bytes_of(metadata);
  return std::any_of(broker().members.begin(), broker().members.end(), [&](const auto& each) {
    return !each.second.is_behind && bytes == bytes_of(*metadata_of(each.first, broker().generation));
  });
}

// ---- the producer

class SimulatedProducer final : public Producer {
 public:
  explicit SimulatedProducer(std::string id) : id_(std::move(id)) {}

  Progress init(Deadline /*deadline*/) override {
    broker().enter_call();
    if (const auto fault = draw_fault("init")) return *fault;
    const auto epoch = broker().init(id_);
    broker().leave_call();
    if (!epoch) return Progress::again();
    epoch_ = *epoch;
    return Progress::done();
  }

  std::optional<Error> begin() override {
    waiting_.clear();
    transaction_ = nullptr;
    return std::nullopt;
  }

  std::optional<Error> produce(const OutgoingRecord& record) override {
    if (broker().chance(broker().faults.again)) return error(Cause::queue_full, Remedy::call_again, "queue full");
    SimulatedEntry entry;
    if (record.key) entry.key = std::string(*record.key);
    if (record.value) entry.value = std::string(*record.value);
    waiting_.emplace_back(Place{record.topic, record.partition.value()}, std::move(entry));
    if (broker().chance(0.3) && !broker().is_away()) send(1 + broker().draw(waiting_.size()));
    return std::nullopt;
  }

  Progress send_offsets(const std::string& topic, std::span<const PartitionOffset> offsets,
                        const GroupMetadata& member, Deadline /*deadline*/) override {
    broker().enter_call();
    if (const auto fault = draw_fault("offsets")) return *fault;
    if (is_fenced()) return fenced();
    if (!broker().may_begin(id_) && !transaction_) return Progress::again();
    if (!is_current(*member)) {
      broker().count("offsets of an older generation refused");
      return Progress::failed(error(Cause::lost_membership, Remedy::abort_transaction, "illegal generation"));
    }
    if (!join()) return Progress::again();
    transaction_->offset = {Place{topic, offsets.front().partition.value()}, offsets.front().offset.value()};
    broker().leave_call();
    return Progress::done();
  }

  Progress arrive(Deadline /*deadline*/) override {
    broker().enter_call();
    if (const auto fault = draw_fault("arrive")) return *fault;
    if (is_fenced()) return fenced();
    send(waiting_.size());
    broker().leave_call();
    return waiting_.empty() ? Progress::done() : Progress::again();
  }

  Progress commit(Deadline /*deadline*/) override {
    broker().enter_call();
    if (broker().is_away()) return without_answer("commit");
    if (is_fenced()) return fenced();
    send(waiting_.size());
    if (!waiting_.empty()) return Progress::again();
    if (broker().chance(broker().faults.unavailable)) {
      broker().count("a record that was not taken");
      return Progress::failed(error(Cause::unavailable, Remedy::abort_transaction, "no leader"));
    }
    if (!join()) return Progress::again();
    if (broker().chance(broker().faults.lost_answer)) {
      switch (broker().draw(3)) {
        case 0:
          broker().count("a commit whose answer was lost");
          broker().end_transaction(transaction_, true);
          break;
        case 1:
          broker().count("a commit that was sent late");
          broker().commit_later(transaction_);
          break;
        default:
          broker().count("a commit that was lost");
      }
      return Progress::failed(error(Cause::timed_out, Remedy::new_client, "timed out"));
    }
    if (transaction_->is_decided()) {
      if (!transaction_->will_commit()) return fenced();
    } else {
      broker().end_transaction(transaction_, true);
    }
    broker().leave_call();
    return Progress::done();
  }

  Progress abort(Deadline /*deadline*/) override {
    broker().enter_call();
    if (broker().is_away()) return without_answer("abort");
    if (is_fenced()) return fenced();
    waiting_.clear();
    if (const auto fault = draw_fault("abort")) return *fault;
    if (transaction_) broker().end_transaction(transaction_, false);
    transaction_ = nullptr;
    broker().count("an aborted transaction");
    broker().leave_call();
    return Progress::done();
  }

  std::optional<Offset> last_offset(const std::string& topic) const override {
    const auto found = last_.find(topic);
    return found == last_.end() ? std::nullopt : std::optional(found->second);
  }
  void abandon() noexcept override {}
  std::optional<Error> complaint() override { return std::nullopt; }

 private:
  bool is_fenced() { return broker().is_fenced(id_, epoch_); }
  Progress fenced() {
    broker().count("a producer that was fenced");
    return Progress::failed(error(Cause::fenced, Remedy::new_client, "fenced"));
  }
  std::optional<Progress> draw_fault(const char* call) {
    const tests::BrokerFaults& faults = broker().faults;
    if (broker().is_away()) return without_answer(call);
    if (broker().chance(faults.again)) return Progress::again();
    if (broker().chance(faults.unavailable / 4)) return timed_out(call);
    return std::nullopt;
  }
  /// What was asked of brokers that are away never reaches them.
  Progress without_answer(const char* call) { return broker().chance(0.2) ? timed_out(call) : Progress::again(); }
  Progress timed_out(const char* call) {
    broker().count(std::string("no answer to ") + call);
    return Progress::failed(error(Cause::timed_out, Remedy::new_client, "timed out"));
  }
  /// Takes part in the present transaction, or begins one.
  bool join() {
    if (transaction_) return true;
    if (!broker().may_begin(id_)) return false;
    transaction_ = broker().transaction(id_, epoch_);
    return true;
  }
  void send(std::size_t count) {
    if (waiting_.empty() || is_fenced() || !join() || transaction_->is_decided()) return;
    for (; count > 0 && !waiting_.empty(); --count) {
      auto [place, entry] = std::move(waiting_.front());
      waiting_.pop_front();
      entry.transaction = transaction_;
      last_.insert_or_assign(place.first, Offset{broker().end(place)});
      broker().append(place, std::move(entry));
    }
  }

  std::string id_;
  std::uint64_t epoch_ = 0;
  std::shared_ptr<SimulatedTransaction> transaction_;
  std::deque<std::pair<Place, SimulatedEntry>> waiting_;  // not yet at their brokers
  std::map<std::string, Offset> last_;
};

// ---- records

decode::Message message_at(const Place& place, std::int64_t offset) {
  const SimulatedEntry& entry = broker().log(place)[static_cast<std::size_t>(offset)];
  decode::Message message;
  message.offset = static_cast<std::uint64_t>(offset);
  message.milliseconds = entry.milliseconds;
  message.time_kind = decode::TimeKind::producer;
  if (entry.key) message.key = *entry.key;
  if (entry.value) message.value = *entry.value;
  return message;
}

bool is_readable(const Place& place, std::int64_t offset, Isolation isolation) {
  const SimulatedEntry& entry = broker().log(place)[static_cast<std::size_t>(offset)];
  if (entry.is_control) return false;
  return isolation == Isolation::read_uncommitted || !entry.transaction || entry.transaction->will_commit();
}

}  // namespace

std::unique_ptr<Producer> transactional_producer(const ClientSettings& /*settings*/,
                                                 const std::string& transactional_id,
                                                 std::vector<std::string> /*topics*/) {
  return std::make_unique<SimulatedProducer>(transactional_id);
}

void add_to(decode::MessageBatch& batch, const Message& message, bool /*with_headers*/) {
  batch.add(message.record);
}

// ---- the reader

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

// ---- the member of the group

namespace {

/// What the simulation keeps of a consumer, beside its own lists.
struct Reading {
  std::string member;
  std::map<std::int32_t, std::int64_t> next;      ///< of partitions that are read
  std::map<std::int32_t, std::int64_t> told_end;  ///< the last end that was told
  std::deque<Event> answers;
  bool is_lost = false;
};

std::map<const GroupConsumer*, Reading>& readings() {
  static std::map<const GroupConsumer*, Reading> all;
  return all;
}

SimulatedBroker::Member& member_of(const GroupConsumer* consumer) {
  return broker().members[readings()[consumer].member];
}

}  // namespace

GroupConsumer::Descriptor::Descriptor() : value(-1) {}
GroupConsumer::Descriptor::~Descriptor() = default;

GroupConsumer::GroupConsumer(const ClientSettings& /*settings*/, const GroupMember& member)
    : topic_(member.topic), group_(member.group) {
  readings()[this].member = broker().process->name;
  broker().join(broker().process->name);
}

GroupConsumer::~GroupConsumer() {
  readings().erase(this);
}

int GroupConsumer::descriptor() const noexcept {
  return -1;
}
void GroupConsumer::acknowledge() noexcept {}

std::optional<Event> GroupConsumer::next() {
  broker().enter_call();
  if (broker().is_away()) return std::nullopt;
  Reading& reading = readings()[this];
  SimulatedBroker::Member& member = member_of(this);
  if (!reading.answers.empty()) {
    Event answer = std::move(reading.answers.front());
    reading.answers.pop_front();
    return answer;
  }
  if (!member.news.empty() && broker().chance(0.3)) {
    const auto [kind, partition] = member.news.front();
    if (kind != 'r') member.news.pop_front();
    member.generation = broker().generation;
    if (kind == 'a') {
      answer_owed_ = Answer::assign;
      return Assigned{{PartitionIndex{partition}}};
    }
    if (kind == 'l') {
      reading.is_lost = true;
      member.is_behind = !member.news.empty();
      answer_owed_ = Answer::unassign;
      return Revoked{{PartitionIndex{partition}}, true};
    }
    if (answer_owed_ == Answer::none) {
      answer_owed_ = Answer::unassign;
      return Revoked{{PartitionIndex{partition}}, false};
    }
  }
  if (member.news.empty() && !member.is_behind && broker().chance(0.2)) member.generation = broker().generation;
  for (auto& [partition, next] : reading.next) {
    if (states_[static_cast<std::size_t>(partition)].paused) continue;
    const Place place{topic_, partition};
    const std::int64_t end = broker().last_stable(place);
    while (next < end && !is_readable(place, next, Isolation::read_committed)) ++next;
    if (next < end) {
      Message message;
      message.partition = PartitionIndex{partition};
      message.record = message_at(place, next++);
      return message;
    }
    if (reading.told_end[partition] == end) continue;
    reading.told_end[partition] = end;
    return EndOfPartition{PartitionIndex{partition}, Offset{end}};
  }
  return std::nullopt;
}

std::optional<Error> GroupConsumer::assign(std::span<const PartitionIndex> partitions) {
  answer_owed_ = Answer::none;
  for (const PartitionIndex partition : partitions) state_of(partition) = {.assigned = true};
  return std::nullopt;
}

std::optional<Error> GroupConsumer::unassign(std::span<const PartitionIndex> partitions) {
  answer_owed_ = Answer::none;
  Reading& reading = readings()[this];
  SimulatedBroker::Member& member = member_of(this);
  for (const PartitionIndex partition : partitions) {
    state_of(partition) = {};
    reading.next.erase(partition.value());
    std::erase(member.news, std::pair('r', partition.value()));
    if (!reading.is_lost) member.assigned.erase(partition.value());
  }
  reading.is_lost = false;
  member.generation = ++broker().generation;
  return std::nullopt;
}

std::optional<Error> GroupConsumer::start(PartitionIndex partition, Offset offset) {
  broker().enter_call();
  if (!state_of(partition).assigned) return error(Cause::state, Remedy::none, "not assigned");
  if (assignment_lost()) return error(Cause::lost_membership, Remedy::none, "assignment lost");
  if (broker().is_away() || broker().chance(broker().faults.again / 4))
    return error(Cause::state, Remedy::call_again, "busy");
  state_of(partition).reading = true;
  state_of(partition).paused = false;
  readings()[this].next[partition.value()] = offset.value();
  readings()[this].told_end.erase(partition.value());
  return std::nullopt;
}

std::optional<Error> GroupConsumer::pause(PartitionIndex partition) {
  state_of(partition).paused = true;
  return std::nullopt;
}

/// What had been read ahead comes again, and more of it than it has to.
std::optional<Error> GroupConsumer::resume(PartitionIndex partition) {
  state_of(partition).paused = false;
  const auto found = readings()[this].next.find(partition.value());
  if (found == readings()[this].next.end()) return std::nullopt;
  const auto again = static_cast<std::int64_t>(broker().draw(6));
  if (again > 0) broker().count("records that were given twice");
  found->second = std::max<std::int64_t>(0, found->second - again);
  return std::nullopt;
}

std::optional<Offset> GroupConsumer::known_end(PartitionIndex partition) const {
  return Offset{broker().end({topic_, partition.value()})};
}

GroupMetadata GroupConsumer::group_metadata() const {
  return metadata_of(readings()[this].member, member_of(this).generation);
}

bool GroupConsumer::assignment_lost() const noexcept {
  const auto& news = member_of(this).news;
  return readings()[this].is_lost ||
         std::any_of(news.begin(), news.end(), [](const auto& each) { return each.first == 'l'; });
}

void GroupConsumer::ask_membership(Deadline /*deadline*/) {
  const SimulatedBroker::Member& member = member_of(this);
  readings()[this].answers.push_back(Membership{!member.is_behind && !assignment_lost()});
}

void GroupConsumer::begin_close(std::chrono::milliseconds /*patience*/) {}
bool GroupConsumer::is_closed() const noexcept {
  return true;
}

GroupConsumer::PartitionState& GroupConsumer::state_of(PartitionIndex partition) {
  const auto index = static_cast<std::size_t>(partition.value());
  if (index >= states_.size()) states_.resize(index + 1);
  return states_[index];
}

}  // namespace nustream::kafka
