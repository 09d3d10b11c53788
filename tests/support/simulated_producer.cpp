// The transactional producer, on the simulated broker.
#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "kafka/producer.h"
#include "simulated_kafka.h"

namespace nustream::kafka {
namespace {

using tests::SimulatedTransaction;

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

bool is_current(const rd_kafka_consumer_group_metadata_t& metadata) {
  const std::string bytes = bytes_of(metadata);
  return std::any_of(broker().members.begin(), broker().members.end(), [&](const auto& each) {
    return !each.second.is_behind && bytes == bytes_of(*metadata_of(each.first, broker().generation));
  });
}

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
    const bool apart = record.topic == broker().apart;
    if (!apart && broker().chance(broker().faults.again)) {
      return error(Cause::queue_full, Remedy::call_again, "queue full");
    }
    SimulatedEntry entry;
    if (record.key) entry.key = std::string(*record.key);
    if (record.value) entry.value = std::string(*record.value);
    for (const decode::MessageHeader& header : record.headers) {
      entry.headers.emplace_back(std::string(header.name), header.value);
    }
    if (apart) {
      broker().append(Place{record.topic, record.partition.value()}, std::move(entry));
      return std::nullopt;
    }
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
    if (waiting_.empty() && !broker().apart.empty()) return Progress::done();
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
  /// A request to brokers that are away never reaches them.
  Progress without_answer(const char* call) { return broker().chance(0.2) ? timed_out(call) : Progress::again(); }
  Progress timed_out(const char* call) {
    broker().count(std::string("no answer to ") + call);
    return Progress::failed(error(Cause::timed_out, Remedy::new_client, "timed out"));
  }
  /// Joins the present transaction, or begins one.
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
  std::deque<std::pair<Place, SimulatedEntry>> waiting_;  // entries that are not yet at their brokers
  std::map<std::string, Offset> last_;
};

}  // namespace

std::unique_ptr<Producer> transactional_producer(const ClientSettings& /*settings*/,
                                                 const std::string& transactional_id,
                                                 std::vector<std::string> /*topics*/) {
  return std::make_unique<SimulatedProducer>(transactional_id);
}

}  // namespace nustream::kafka
