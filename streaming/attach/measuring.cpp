#include "attach/measuring.h"

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <chrono>
#include <exception>
#include <future>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "attach/backoff.h"
#include "attach/lane_bounds.h"
#include "config/ranges.h"
#include "decode/message_decoder.h"
#include "engine/seal_batch.h"
#include "journal/completion.h"
#include "journal/ledger_chain.h"
#include "journal/state_record.h"
#include "kafka/interruption.h"
#include "kafka/kafka_journal.h"
#include "kafka/lane_checks.h"
#include "kafka/message.h"
#include "kafka/partition_reader.h"
#include "kafka/seen_records.h"
#include "log/log.h"
#include "measure/fit.h"

namespace nustream::attach {
namespace {

using std::chrono::milliseconds;

constexpr LaneId first_lane{0};
constexpr EpochId first_epoch{0};
constexpr milliseconds between_looks{500};

/// The first records of the partition with their columns as they are, before any range is known, and their offsets.
struct FirstRecords {
  Position start{0};
  Position end{0};
  measure::RawTable table;
  kafka::SeenRecords seen{{}};
};

class Measuring {
 public:
  Measuring(const MeasuringOrder& order, const std::atomic<bool>& cancelled)
      : order_(order),
        asked_(order.asked),
        kafka_(asked_.kafka),
        cancelled_(cancelled),
        client_{kafka_.brokers, kafka_.properties, &cancelled_},
        place_{asked_.stream, first_lane, kafka_.group, kafka_.topics},
        rule_(ranges_rule(asked_, order.keys.is_private())),
        checks_(client_, place_, order.keys, kafka_.transaction, cancelled_) {}

  std::string ranges() {
    while (true) {
      try {
        // After each interruption the state is asked first: an own commit whose answer was lost may have succeeded.
        if (auto held = held_by_state()) return *std::move(held);
        if (auto found = measured()) return *std::move(found);
      } catch (const kafka::LaneInterrupted& interrupted) {
        pause_or_give_up(interrupted.error());
      } catch (const kafka::KafkaFailure& failure) {
        if (failure.error().remedy == kafka::Remedy::none) throw;
        pause_or_give_up(failure.error());
      }
    }
  }

 private:
  void pause(milliseconds time) const {
    const auto until = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < until) {
      if (cancelled_.load()) throw kafka::Cancelled();
      std::this_thread::sleep_for(std::min(time, milliseconds(50)));
    }
    if (cancelled_.load()) throw kafka::Cancelled();
  }

  void pause_or_give_up(const kafka::Error& error) {
    if (backoff_.gave_up(std::chrono::steady_clock::now(), kafka_.give_up)) {
      throw kafka::KafkaFailure("measure what is \"private\" for lane " + place_.name(), error);
    }
    pause(backoff_.next_pause(random_));
  }

  [[nodiscard]] std::optional<std::string> held_by_state() {
    const auto sealed = kafka::committed_state(client_, place_, kafka_.transaction);
    backoff_.succeeded();
    if (!sealed) return std::nullopt;
    return ranges_in(*sealed);
  }

  [[nodiscard]] std::string ranges_in(const std::string& sealed) const {
    const secrets::ExpectedIdentity expected{place_.stream, first_lane, std::nullopt, std::nullopt,
                                             order_.keys.is_private()};
    const journal::State state = journal::open_state(order_.keys, sealed, expected);
    if (config::rule_of(state.record.ranges) == rule_) return state.record.ranges;
    throw Failure(
        Exit::data,
        fmt::format("lane {}: {}; name other topics and another stream.name to measure there, or the settings "
                    "as they were",
                    place_.name(),
                    state.record.ranges.empty()
                        ? "its state holds no settings that were measured"
                        : "its settings were measured under a different configuration (rho, model, "
                          "ranges or columns)"));
  }

  /// Waits for the first records and measures them. Returns nothing where another instance has measured meanwhile.
  [[nodiscard]] std::optional<std::string> measured() {
    measure::require_enough(asked_, asked_.measuring.records);
    const std::optional<FirstRecords> records = read_first();
    if (!records) return std::nullopt;
    return measured_over(*records);
  }

  [[nodiscard]] std::optional<FirstRecords> read_first() {
    LaneBounds bounds(asked_, place_, checks_);
    // Resolved once, also over several attempts: "latest" means the end that the partition had at first.
    if (!start_) start_ = bounds.start();
    const std::optional<Position> stop = bounds.stop().position;
    const record::Schema schema = measure::raw_schema(asked_);
    FirstRecords records{*start_, *start_, {schema.dimension(), {}, {}, {}}};
    decode::MessageDecoder decoder(asked_.input, schema);
    kafka::PartitionReader reader(client_, kafka::Isolation::read_committed, place_.group);
    while (true) {
      const kafka::Watermarks log = reader.watermarks(input(), kafka::in(kafka_.transaction));
      read_up_to(log.high, stop, reader, decoder, records);
      backoff_.succeeded();
      const std::uint64_t lacking = asked_.measuring.records - records.table.y.size();
      if (lacking == 0) return records;
      if (stop && records.end >= *stop) refuse_short(records.table.y.size());
      order_.tell(fmt::format("waits for {} more of the first {} records of partition 0, which are measured", lacking,
                              asked_.measuring.records));
      pause(between_looks);
      // While it waited for records, another instance may have measured; the next attempt takes its values.
      if (held_by_state()) return std::nullopt;
    }
  }

  /// Reads up to `end`, but never more records than are lacking: it reads windows of as many offsets as that, since
  /// an offset holds one record at most.
  void read_up_to(kafka::Offset end, const std::optional<Position>& stop, kafka::PartitionReader& reader,
                  decode::MessageDecoder& decoder, FirstRecords& records) const {
    record::RowBatch rows;
    rows.dimension = records.table.features;
    decode::MessageBatch batch;
    const auto take = [&](const kafka::Message& message) {
      batch.clear();
      rows.clear();
      kafka::add_to(batch, message, true);
      decoder.decode(batch.messages(), rows);
      records.seen.add(batch.messages(), order_.keys);
      std::vector<std::size_t> unusable;
      if (!rows.rejects.empty()) unusable.push_back(records.table.y.size());
      records.table.add(rows, unusable);
    };
    const std::uint64_t last = std::min(position_of(end), stop.value_or(position_of(end))).value();
    while (records.end.value() < last && records.table.y.size() < asked_.measuring.records) {
      const std::uint64_t lacking = asked_.measuring.records - records.table.y.size();
      const std::uint64_t to = std::min(last, records.end.value() + lacking);
      reader.read_patiently(input(), kafka::Offset{static_cast<std::int64_t>(records.end.value())},
                            kafka::Offset{static_cast<std::int64_t>(to)}, kafka_.transaction, take);
      records.end = Position{to};
    }
  }

  [[noreturn]] void refuse_short(std::uint64_t found) const {
    throw Failure(
        Exit::configuration,
        fmt::format("{}: {} = \"private\": partition 0 holds {} records up to kafka.stop, and ranges.records = "
                    "{} are measured; nothing is spent",
                    asked_.file, asked_.measuring.keys.front(), found, asked_.measuring.records));
  }

  /// Measures, and commits the values together with their cost in one transaction. Loading the journal fences any
  /// other instance that was about to do the same.
  [[nodiscard]] std::string measured_over(const FirstRecords& records) {
    const std::atomic<bool>& ended = cancelled_;
    kafka::KafkaJournal journal(
        {client_, place_, kafka_.transaction,
         [this] {
           return kafka::transactional_producer(client_, place_.name(),
                                                {place_.topics.state, place_.topics.releases, place_.topics.ledger});
         },
         [this](std::function<void()> work) { boost::asio::post(*pool_, std::move(work)); }, &ended, &ended});
    const Joined joined{pool_.emplace(1)};  // declared after the journal, so that the pool ends first
    if (const auto sealed = journal.load()) return ranges_in(*sealed);
    require_no_remains();
    const measure::Measured found =
        measure::find_ranges(asked_, config::Purpose::stream, records.table, order_.keys, first_epoch, rule_);
    const auto promise = std::make_shared<std::promise<void>>();
    journal.commit_spend(sealed(records, found.ranges, journal.bookmark()), journal::that_ends(promise));
    try {
      promise->get_future().get();
    } catch (const kafka::TransactionAborted& aborted) {
      throw kafka::LaneInterrupted(aborted.error());
    }
    // Only now is the cost in the ledger. A failure of the measuring itself (no range was found) comes after its
    // cost.
    say(found.ranges);
    if (found.failure) std::rethrow_exception(found.failure);
    return found.ranges;
  }

  void require_no_remains() {
    if (!checks_.remains().any()) return;
    throw Failure(
        Exit::data,
        fmt::format("lane {}: there are releases, a ledger or a committed offset but no state, which would hold "
                    "what was measured: restore the state topic, or give numbers in place of \"private\"",
                    place_.name()));
  }

  [[nodiscard]] journal::Batch sealed(const FirstRecords& records, const std::string& ranges,
                                      const std::string& bookmark) const {
    const Rho rho = measure::rhos_of(asked_).ranges;
    const journal::LedgerEntry spent{place_.stream,
                                     first_lane,
                                     first_epoch,
                                     records.start,
                                     records.end,
                                     StepCount{1},
                                     rho,
                                     rho,
                                     rule_,
                                     asked_.privacy.neighbours(),
                                     order_.keys.is_private(),
                                     journal::Overlap::disjoint};
    journal::StateRecord record;
    record.bookmark = bookmark;
    record.partitions = order_.partitions;
    record.seen = kafka::SeenRecords(records.seen).below(records.end);
    record.ranges = ranges;
    journal::Ledger nothing_spent;
    journal::ReleaseChain nothing_released;
    return engine::seal_one_step(order_.keys, spent, nothing_spent, nothing_released, std::move(record),
                                 engine::Keeping::topics);
  }

  void say(const std::string& ranges) const {
    std::string values;
    for (const auto& [key, value] : config::measured_settings(ranges)) {
      values += (values.empty() ? ": " : ", ") + key + " = " + value;
    }
    log::info("ranges_measured",
              fmt::format("measured privately over the first {} records of partition 0, rho {:.6g} in the ledger of "
                          "lane 0 beside the {:.6g} of the run{}",
                          asked_.measuring.records, measure::rhos_of(asked_).ranges.value(),
                          measure::rhos_of(asked_).rest.value(), values));
  }

  [[nodiscard]] kafka::TopicPartition input() const { return place_.in(place_.topics.input); }

  /// Waits for the pool's work at the end of a scope: work that is under way refers to the journal.
  struct Joined {
    boost::asio::thread_pool& pool;
    ~Joined() { pool.join(); }
  };

  const MeasuringOrder& order_;
  const config::Config& asked_;
  const config::Kafka& kafka_;
  const std::atomic<bool>& cancelled_;
  kafka::ClientSettings client_;
  kafka::LanePlace place_;
  std::string rule_;
  kafka::LaneChecks checks_;
  std::optional<boost::asio::thread_pool> pool_;
  std::optional<Position> start_;
  Backoff backoff_;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace

std::string ranges_rule(const config::Config& asked, bool is_private) {
  return measure::rule_digest(asked, is_private, asked.measuring.records);
}

std::string measure_stream(const MeasuringOrder& order, const std::atomic<bool>& cancelled) {
  measure::require_measurable(order.asked);
  return Measuring(order, cancelled).ranges();
}

}  // namespace nustream::attach
