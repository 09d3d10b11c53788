// Measures "private" settings once for a whole stream. One transaction of lane 0 holds the values, their cost and the
// state that says so, and whichever instance commits it first decides for all. What is found before that commit is
// shown to nobody.
#include "attach/measuring.h"

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <future>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "attach/backoff.h"
#include "attach/first_records.h"
#include "attach/lane_bounds.h"
#include "config/ranges.h"
#include "config/users.h"
#include "engine/epoch_decision.h"
#include "engine/seal_batch.h"
#include "journal/completion.h"
#include "journal/ledger_chain.h"
#include "journal/state_record.h"
#include "kafka/interruption.h"
#include "kafka/kafka_journal.h"
#include "kafka/lane_checks.h"
#include "kafka/partition_reader.h"
#include "kafka/topic_checks.h"
#include "log/log.h"
#include "measure/fit.h"
#include "users/topic_mark.h"
#include "users/user_key.h"

namespace nustream::attach {
namespace {

using std::chrono::milliseconds;

constexpr LaneId first_lane{0};
constexpr milliseconds between_looks{500};

/// The store of a lane's users before anybody has counted, as the state of the measuring holds it.
journal::UsersOfState users_without_counts(const config::Config& asked, std::uint32_t lanes,
                                           const users::UserKey& key) {
  journal::UsersOfState users;
  std::ranges::copy(key.bytes(), users.key.begin());
  // The mark says that the store is empty, and how users are divided.
  users.mark = users::encode_mark({.division = {lanes, 0, config::partitioner_of(asked)}});
  users.identity = asked.users->identity;
  return users;
}

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
        checks_(client_, place_, order.keys, kafka_.transaction, cancelled_) {
    // It is nobody's key until the commit. Another instance may commit before, with its own.
    if (asked_.users) user_key_ = users::new_user_key(order.keys, asked_.stream);
  }

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
  /// Sleeps in short pieces. Throws Cancelled once the measuring is no longer wanted.
  void pause(milliseconds time) const {
    const auto until = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < until) {
      if (cancelled_.load()) throw kafka::Cancelled();
      std::this_thread::sleep_for(std::min(time, milliseconds(50)));
    }
    if (cancelled_.load()) throw kafka::Cancelled();
  }

  /// Waits for the next attempt. Throws where attempts have failed for too long.
  void pause_or_give_up(const kafka::Error& error) {
    if (backoff_.gave_up(std::chrono::steady_clock::now(), kafka_.give_up)) {
      // Every attempt has failed for longer than kafka.give_up.
      throw kafka::KafkaFailure("measure what is \"private\" for lane " + place_.name(), error);
    }
    pause(backoff_.next_pause(random_));
  }

  /// What the last committed state of lane 0 holds; nothing where there is no state.
  [[nodiscard]] std::optional<std::string> held_by_state() {
    const auto sealed = kafka::committed_state(client_, place_, kafka_.transaction);
    // The brokers have answered.
    backoff_.succeeded();
    if (!sealed) return std::nullopt;
    return ranges_in(*sealed);
  }

  [[nodiscard]] std::string ranges_in(const std::string& sealed) const {
    const secrets::ExpectedIdentity expected{place_.stream, first_lane, std::nullopt, std::nullopt,
                                             order_.keys.is_private()};
    const journal::State state = journal::open_state(order_.keys, sealed, expected);
    // Values that were measured under another rule are not those that were asked for.
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
    // This is refused before a record is read, and so before anything is spent.
    measure::require_budget(asked_);
    measure::require_enough(asked_, asked_.measuring.records);
    // Resolved once, also over several attempts: "latest" means the end that the partition had at first.
    if (!start_) start_ = LaneBounds(asked_, place_, checks_).start();
    // A new attempt reads the records again: what was read is in memory alone.
    FirstRecords records(asked_, order_.keys, order_.partitions, user_key_ ? &*user_key_ : nullptr, *start_);
    if (!read_first(records)) return std::nullopt;
    return measured_over(records);
  }

  /// Waits for the first records and reads them. Returns false where another instance has measured meanwhile.
  [[nodiscard]] bool read_first(FirstRecords& records) {
    const std::optional<Position> stop = LaneBounds(asked_, place_, checks_).stop().position;
    kafka::PartitionReader reader(client_, kafka::Isolation::read_committed, place_.group);
    while (true) {
      const kafka::Watermarks log = reader.watermarks(input(), kafka::in(kafka_.transaction));
      read_up_to(log.high, stop, reader, records);
      backoff_.succeeded();
      if (records.lacking() == 0) return true;
      // Below the stop no further record can come.
      if (stop && records.end() >= *stop) refuse_short(records.count());
      order_.tell(fmt::format("waits for {} more of the first {} records of partition 0, which are measured",
                              records.lacking(), asked_.measuring.records));
      pause(between_looks);
      // While it waited for records, another instance may have measured; the next attempt takes its values.
      if (held_by_state()) return false;
    }
  }

  /// Reads up to `end`, but never more records than are lacking: it reads windows of as many offsets as that, since
  /// an offset holds one record at most.
  void read_up_to(kafka::Offset end, const std::optional<Position>& stop, kafka::PartitionReader& reader,
                  FirstRecords& records) const {
    const std::uint64_t last = std::min(position_of(end), stop.value_or(position_of(end))).value();
    while (records.end().value() < last && records.lacking() > 0) {
      const std::uint64_t from = records.end().value();
      const std::uint64_t to = std::min(last, from + records.lacking());
      reader.read_patiently(input(), kafka::Offset{static_cast<std::int64_t>(from)},
                            kafka::Offset{static_cast<std::int64_t>(to)}, kafka_.transaction,
                            [&](const kafka::Message& message) { records.take(message); });
      records.reached(Position{to});
    }
  }

  [[noreturn]] void refuse_short(std::uint64_t found) const {
    throw Failure(Exit::configuration,
                  fmt::format("{}: {} = \"private\": partition 0 holds only {} records before kafka.stop, fewer than "
                              "ranges.records = {}: lower it, or move the stop; nothing is spent",
                              asked_.file, asked_.measuring.keys.front(), found, asked_.measuring.records));
  }

  /// Measures, and commits the values together with their cost in one transaction. Loading the journal fences any
  /// other instance that was about to do the same.
  [[nodiscard]] std::string measured_over(const FirstRecords& records) {
    // One flag ends both the loading and a transaction under way.
    const std::atomic<bool>& ended = cancelled_;
    kafka::KafkaJournal journal(
        {client_, place_, kafka_.transaction,
         [this] {
           return kafka::transactional_producer(client_, place_.name(),
                                                {place_.topics.state, place_.topics.releases, place_.topics.ledger});
         },
         [this](std::function<void()> work) {
           order_.post ? order_.post(std::move(work)) : boost::asio::post(*pool_, std::move(work));
         },
         &ended, &ended});
    const Joined joined{pool_.emplace(1)};  // declared after the journal, so that the pool ends first
    // Older producers of the lane are fenced now. A state that is there is another instance's, which was first: its
    // values count.
    if (const auto sealed = journal.load()) return ranges_in(*sealed);
    const engine::Begin begin = begun();
    if (user_key_) require_no_other_lane();
    // The noise key lives in this call alone. A crash before the commit leaves neither values nor spend.
    measure::Measured found =
        measure::find_ranges(asked_, config::Purpose::stream, records.table(), order_.keys, begin.epoch, rule_);
    if (config::stopped_by(found.ranges).empty()) found.ranges += measure::lines_of_a_part(asked_);
    const auto promise = std::make_shared<std::promise<void>>();
    journal.commit_spend(sealed(records, begin, found.ranges, journal.bookmark()), journal::that_ends(promise));
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

  /// The epoch of the measuring, as decide() has it for a lane without a state. It is refused beside remains of the
  /// lane: with its state, what was measured before is lost.
  [[nodiscard]] engine::Begin begun() {
    engine::Found found;
    found.has_remains = checks_.remains().any();
    const engine::Decision decision = engine::decide(found, {}, engine::Asked{}, engine::Keeping::topics);
    if (const auto* begin = std::get_if<engine::Begin>(&decision)) return *begin;
    throw Failure(
        Exit::data,
        fmt::format("lane {}: there are releases, a ledger or a committed offset but no state, which would hold "
                    "what was measured: restore the state topic, or give numbers in place of \"private\"",
                    place_.name()));
  }

  /// The other lanes take the users' key from lane 0. So where one of them has begun, lane 0 had a key that is lost
  /// with its state. Under another key users would be divided otherwise, and what they spent in that lane would not
  /// be charged in theirs. The input may have fewer partitions by now than there are lanes that have begun, so that
  /// all lanes are looked at of which there may be a ledger.
  void require_no_other_lane() const {
    const auto lanes = kafka::TopicChecks(client_).partitions(place_.topics.ledger, kafka::in(kafka_.transaction));
    for (std::uint32_t lane = 1; lane < static_cast<std::uint32_t>(lanes.value_or(0)); ++lane) {
      if (cancelled_.load()) throw kafka::Cancelled();
      const kafka::LanePlace other{place_.stream, LaneId{lane}, place_.group, place_.topics};
      if (!has_begun(other)) continue;
      throw Failure(
          Exit::data,
          fmt::format("lane {}: it has begun, and lane 0, which draws the key of the stream's users, has no "
                      "state: restore the state topic, or give numbers in place of \"private\"",
                      other.name()));
    }
  }

  [[nodiscard]] bool has_begun(const kafka::LanePlace& other) const {
    kafka::LaneChecks checks(client_, other, order_.keys, kafka_.transaction, cancelled_);
    // A lane without room for a state in its topics can only have a ledger.
    if (other.lane.value() >= order_.lanes_with_room) return !checks.ledger().epochs.empty();
    return kafka::committed_state(client_, other, kafka_.transaction).has_value() || checks.remains().any();
  }

  /// The one batch of the measuring: a state with the values, and the ledger line of what they cost.
  [[nodiscard]] journal::Batch sealed(const FirstRecords& records, const engine::Begin& begin,
                                      const std::string& ranges, const std::string& bookmark) const {
    const Rho rho = measure::rhos_of(asked_).ranges;
    // One step over all records that were read; the whole cost is in its only line.
    journal::LedgerEntry spent{place_.stream,
                               first_lane,
                               begin.epoch,
                               records.start(),
                               records.end(),
                               StepCount{1},
                               rho,
                               rho,
                               rule_,
                               asked_.privacy.neighbours(),
                               order_.keys.is_private(),
                               begin.overlap};
    spent.user = measure::user_spend(asked_);
    journal::StateRecord record;
    record.bookmark = bookmark;
    record.partitions = order_.partitions;
    record.seen = records.marks();
    record.ranges = ranges;
    if (user_key_) record.users = users_without_counts(asked_, order_.partitions, *user_key_);
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
  std::optional<users::UserKey> user_key_;  // of the stream, where the unit is the user
  Backoff backoff_;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace

std::string ranges_rule(const config::Config& asked, bool is_private) {
  return measure::rule_digest(asked, is_private, asked.measuring.records);
}

bool has_only_measured(const journal::State& state) {
  return !state.record.ranges.empty() && config::rule_of(state.record.ranges) == state.identity.settings_digest;
}

std::string measure_stream(const MeasuringOrder& order, const std::atomic<bool>& cancelled) {
  measure::require_measurable(order.asked);
  return Measuring(order, cancelled).ranges();
}

}  // namespace nustream::attach
