#include "attach/open_lane.h"

#include <algorithm>
#include <exception>
#include <future>
#include <utility>

#include <fmt/format.h>

#include "attach/lane_bounds.h"
#include "kafka/interruption.h"
#include "kafka/lane_checks.h"
#include "kafka/topic_checks.h"
#include "secrets/seal.h"

namespace nustream::attach {
namespace {

using kafka::LaneChecks;

/// Where the epoch begins and ends, and how it stands to what was read before.
struct Range {
  Position start;
  Stop stop;
  journal::Overlap overlap = journal::Overlap::disjoint;
};

bool is_unknown(const journal::LedgerEntry& entry) {
  return entry.overlap == journal::Overlap::unknown;
}

bool took_steps(const journal::Ledger& ledger) {
  return std::any_of(ledger.epochs.begin(), ledger.epochs.end(),
                     [](const journal::LedgerEntry& entry) { return entry.steps > StepCount{0}; });
}

bool covers(const journal::Ledger& ledger, const journal::LastRelease& release) {
  return std::any_of(ledger.epochs.begin(), ledger.epochs.end(), [&](const journal::LedgerEntry& entry) {
    return entry.epoch == release.epoch && entry.steps >= release.steps;
  });
}

class Opening {
 public:
  explicit Opening(LaneOrder order)
      : order_(std::move(order)),
        setup_(*order.setup),
        kafka_(setup_.config.kafka),
        client_{kafka_.brokers, kafka_.properties, order_.cancelled.get()},
        place_{setup_.config.stream, order_.lane, kafka_.group, kafka_.topics} {}

  OpenedLane open() {
    if (order_.lane.value() >= setup_.lanes_with_room) require_partitions();
    journal_ = std::make_unique<kafka::KafkaJournal>(journal_options());
    const std::optional<std::string> sealed = journal_->load();
    journal_->use_member(order_.member);
    checks_.emplace(client_, place_, setup_.keys, kafka_.transaction, *order_.cancelled);
    return sealed ? with_state(*sealed) : without_state();
  }

 private:
  /// The topics that have to have a partition of the lane's own.
  [[nodiscard]] std::vector<std::string> lane_topics() const {
    std::vector<std::string> topics{place_.topics.state, place_.topics.releases, place_.topics.ledger};
    if (!place_.topics.dead_letters.empty()) topics.push_back(place_.topics.dead_letters);
    return topics;
  }

  /// Never hashed, never modulo: a lane without its own partition has nowhere to write to.
  void require_partitions() const {
    kafka::TopicChecks checks(client_);
    for (const std::string& topic : lane_topics()) {
      const auto found = checks.partitions(topic, kafka::in(kafka_.transaction)).value_or(0);
      if (order_.lane.value() < static_cast<std::uint32_t>(found)) continue;
      throw LaneWithoutPartition(
          fmt::format("topic '{}' has {} partitions, and lane {} needs its own: raise them to "
                      "{}",
                      topic, found, order_.lane.value(), std::max(order_.partitions, order_.lane.value() + 1)));
    }
  }

  [[nodiscard]] kafka::KafkaJournal::Options journal_options() const {
    std::vector<std::string> topics = lane_topics();
    if (!place_.topics.model.empty() && order_.lane == LaneId{0}) topics.push_back(place_.topics.model);
    return {client_,
            place_,
            kafka_.transaction,
            [client = writing_client(), id = place_.name(), topics] {
              return kafka::transactional_producer(client, id, topics);
            },
            order_.post,
            order_.cancelled.get(),
            order_.out_of_time};
  }

  /// Dead letters that travel together have to fit their topic as each of them does.
  [[nodiscard]] kafka::ClientSettings writing_client() const {
    constexpr const char* batch_size = "batch.size";
    kafka::ClientSettings client = client_;
    const std::string in_force = kafka::property_in_force(client, kafka::Role::transactional_producer, batch_size);
    if (!place_.topics.dead_letters.empty() && setup_.letter_bytes_max < std::stoull(in_force)) {
      client.properties[batch_size] = std::to_string(std::max<std::size_t>(setup_.letter_bytes_max, 1));
    }
    return client;
  }

  /// A state that does not open, or that the topics have gone beyond, is taken for none where a new epoch is asked
  /// for. That of another stream or key is no damage.
  OpenedLane with_state(const std::string& sealed) {
    secrets::ExpectedIdentity expected{place_.stream, order_.lane, std::nullopt, std::nullopt,
                                       setup_.keys.is_private()};
    if (!order_.renewal.new_epoch) expected.settings_digest = setup_.digest;
    std::optional<journal::State> state;
    std::optional<LaneChecks::Input> input;
    journal::Ledger ledger;
    try {
      state = journal::open_state(setup_.keys, sealed, expected);
      checks_->check_outputs(*state);
      ledger = ledger_of(state->record);
      input = checks_->check_input(state->record, took_steps(ledger));
    } catch (const kafka::StateRolledBack&) {
      if (!order_.renewal.new_epoch) throw;
      return without_state();
    } catch (const Failure& failure) {
      if (state || failure.code() != Exit::data || !order_.renewal.new_epoch ||
          secrets::is_foreign(sealed, expected)) {
        throw;
      }
      return without_state();
    }
    const bool gap = input->gap || input->unproven || !input->changed.empty();
    const Position start = start_behind(state->record, *input);
    if (gap) require_accepted(gap_text(state->record.position, *input), start);
    journal_->recover(state->record.recovery());
    const bool other_settings = state->identity.settings_digest != setup_.digest;
    const bool at_horizon = order_.mechanism->horizon() == state->identity.steps;
    if (order_.renewal.new_epoch && (other_settings || at_horizon || gap)) {
      // The old outbox goes out with the new epoch's first state.
      std::vector<journal::SeenRecord> seen;
      if (input->changed.empty()) seen = state->record.seen;
      return begin(EpochId{state->identity.epoch.value() + 1}, {start, bounds().stop(), overlap_behind(*input)},
                   std::move(ledger), std::move(seen), state->record.partitions);
    }
    return go_on(std::move(*state), std::move(ledger));
  }

  /// Behind what was read. In another log nobody can tell what that was, nor which records were taken out of it for
  /// what others hold: behind all that is there.
  Position start_behind(const journal::StateRecord& record, const LaneChecks::Input& input) {
    if (!input.changed.empty()) return position_of(checks_->input_end());
    return std::max(record.position, position_of(input.log.low));
  }
  /// Offsets of another log do not tell which of its records were read before.
  static journal::Overlap overlap_behind(const LaneChecks::Input& input) {
    return input.changed.empty() && !input.unproven ? journal::Overlap::disjoint : journal::Overlap::unknown;
  }

  static std::string gap_text(Position position, const LaneChecks::Input& input) {
    if (!input.changed.empty()) return input.changed;
    if (input.gap) {
      return fmt::format("offsets {} to {} of the input are gone before they were read", position.value(),
                         input.log.low.value() - 1);
    }
    return fmt::format("the group's committed offset is gone, and no record before offset {} is left to compare",
                       position.value());
  }

  void require_accepted(const std::string& what, Position start) const {
    if (order_.renewal.new_epoch && order_.renewal.accept_gap) {
      fmt::print(stderr, "nustream: lane {}: {}; goes on from offset {} in a new epoch, as --accept-gap says\n",
                 place_.name(), what, start.value());
      return;
    }
    throw Failure(Exit::data, fmt::format("lane {}: {}; nothing was published: restore what was lost, or go on from "
                                          "offset {} with --new-epoch --accept-gap",
                                          place_.name(), what, start.value()));
  }

  OpenedLane go_on(journal::State state, journal::Ledger ledger) {
    journal::StateRecord& record = state.record;
    journal::Overlap overlap = journal::Overlap::disjoint;
    for (const journal::LedgerEntry& entry : ledger.epochs) {
      if (entry.epoch == state.identity.epoch) overlap = entry.overlap;
    }
    const config::Mechanism& mechanism = *order_.mechanism;
    engine::EpochIdentity identity{place_.stream,
                                   order_.lane,
                                   state.identity.epoch,
                                   record.start,
                                   overlap,
                                   setup_.digest,
                                   setup_.config.privacy.neighbours(),
                                   setup_.keys.is_private()};
    Stop stop = bounds().stop_of(record);
    // As at the beginning: durable before any record is read, or a crash would resolve an end once more.
    const bool is_new_stop = stop.position != record.stop || stop.asked != record.stop_asked;
    OpenedLane opened{
        std::move(journal_),
        {std::move(order_.mechanism), lane::Lane::decode(setup_.config.descent, mechanism.grids, record.lane),
         engine::EpochLedger(std::move(identity), mechanism, std::move(ledger)),
         kafka::SeenRecords(std::move(record.seen)), stop.position, std::move(stop.asked), record.rejected,
         record.partitions, state.identity.steps},
        std::move(record.noise),
        record.released,
        {}};
    NUSTREAM_REQUIRE(opened.state.lane.steps() == state.identity.steps,
                     "the sealed lane is at another step than its seal says");
    const kafka::Offset from = kafka::decode_bookmark(record.bookmark).releases_from;
    const bool owes = opened.journal->owes_releases();
    opened.last_published = owes
                                ? opened.journal->outbox()
                                : checks_->last_published(kafka::Offset{std::max<std::int64_t>(from.value() - 1, 0)});
    if (owes || is_new_stop) commit_alone(opened);
    return opened;
  }

  OpenedLane without_state() {
    const LaneChecks::Remains remains = checks_->remains();
    if (remains.any() && !order_.renewal.new_epoch) {
      throw Failure(Exit::data,
                    fmt::format("lane {}: there are releases, a ledger or a committed offset but no state; "
                                "restore the state topic, or begin a new noise epoch behind them with --new-epoch",
                                place_.name()));
    }
    if (!remains.any()) return begin(EpochId{0}, first_range(), {}, {}, order_.partitions);
    if (remains.last_release && remains.last_release->is_private != setup_.keys.is_private()) {
      throw Failure(Exit::data, fmt::format("lane {}: the release topic holds releases of another kind (private or "
                                            "not); name another kafka.release_topic",
                                            place_.name()));
    }
    if (remains.last_release && !covers(remains.ledger, *remains.last_release)) {
      throw Failure(Exit::data, fmt::format("lane {}: the ledger has no spend for the last release (epoch {}, step "
                                            "{}); restore the ledger topic",
                                            place_.name(), remains.last_release->epoch.value(),
                                            remains.last_release->steps.value()));
    }
    std::uint32_t epoch = 0;
    Position start{0};
    const auto behind = [&](EpochId known, Position to) {
      epoch = std::max(epoch, known.value() + 1);
      start = std::max(start, to);
    };
    for (const journal::LedgerEntry& entry : remains.ledger.epochs) {
      if (is_unknown(entry)) start = Position{0};  // offsets before it were of another log
      behind(entry.epoch, entry.to);
    }
    if (const auto& last = remains.last_release) {
      const bool of_another_log = std::any_of(
          remains.ledger.epochs.begin(), remains.ledger.epochs.end(),
          [&](const journal::LedgerEntry& entry) { return is_unknown(entry) && entry.epoch > last->epoch; });
      behind(last->epoch, of_another_log ? Position{0} : last->position);
    }
    if (remains.committed) start = std::max(start, position_of(*remains.committed));
    start = std::max(start, position_of(checks_->input_log().low));
    // A topic that is deleted takes the group's offsets with it.
    journal::Overlap overlap = remains.committed ? journal::Overlap::disjoint : journal::Overlap::unknown;
    if (const Position end = position_of(checks_->input_end()); start > end) {
      require_accepted(kafka::shorter_log(end.value(), start.value()), end);
      start = end;
      overlap = journal::Overlap::unknown;
    }
    // How many partitions there were is lost: one without a state that begins at its first record skips none.
    return begin(EpochId{epoch}, {start, bounds().stop(), overlap}, remains.ledger, {}, 1);
  }

  /// `seen`: marks of the last records before the range, where they are known.
  OpenedLane begin(EpochId epoch, Range range, journal::Ledger ledger, std::vector<journal::SeenRecord> seen,
                   std::uint32_t partitions) {
    // Once the log was another one, offsets before that say nothing of those behind it.
    if (std::any_of(ledger.epochs.begin(), ledger.epochs.end(), is_unknown)) {
      range.overlap = journal::Overlap::unknown;
    }
    noise::KeyBytes key = setup_.keys.epoch_key(place_.stream);
    const config::Mechanism& mechanism = *order_.mechanism;
    journal::NoiseCheckpoints first = journal::first_checkpoints(key, order_.lane, epoch, mechanism.stages.size());
    noise::wipe(key);
    engine::EpochIdentity identity{place_.stream,
                                   order_.lane,
                                   epoch,
                                   range.start,
                                   range.overlap,
                                   setup_.digest,
                                   setup_.config.privacy.neighbours(),
                                   setup_.keys.is_private()};
    OpenedLane opened{
        std::move(journal_),
        {std::move(order_.mechanism), lane::Lane(setup_.config.descent, mechanism.grids, range.start),
         engine::EpochLedger(std::move(identity), mechanism, std::move(ledger)), kafka::SeenRecords(std::move(seen)),
         range.stop.position, std::move(range.stop.asked), 0, partitions, std::nullopt},
        std::move(first),
        StepCount{0},
        {}};
    // Before any record is read: key, start and stop are durable, and never resolved again.
    commit_alone(opened);
    return opened;
  }

  /// Partitions that came later begin at their first record, whatever the stream's start was.
  Range first_range() {
    const Position start = is_later_partition() ? position_of(checks_->input_log().low) : bounds().start();
    return {start, bounds().stop(), journal::Overlap::disjoint};
  }

  [[nodiscard]] LaneBounds bounds() { return {kafka_, place_, *checks_}; }

  /// Told by lane 0, which remembers how many there were when the stream began.
  bool is_later_partition() {
    if (order_.lane == LaneId{0}) return false;
    const kafka::LanePlace first{place_.stream, LaneId{0}, place_.group, place_.topics};
    kafka::PartitionReader reader(client_, kafka::Isolation::read_committed, place_.group);
    const kafka::Deadline deadline = kafka::in(kafka_.transaction);
    const kafka::Offset end = reader.watermarks(first.in(first.topics.state), deadline).high;
    const auto sealed = kafka::read_state(client_, first, end, deadline);
    if (!sealed) return false;
    const journal::State state = journal::open_state(setup_.keys, *sealed);
    return order_.lane.value() >= state.record.partitions;
  }

  /// A transaction without input: publishes what is owed, with the state that no longer holds it.
  void commit_alone(OpenedLane& opened) {
    if (order_.cancelled->load() || order_.out_of_time->load()) throw kafka::Cancelled();
    journal::Batch batch =
        seal_batch(setup_, opened.state, {opened.noise.clone(), {}, {}, opened.released}, opened.journal->bookmark());
    // Shared: the pool's thread may still be inside set_value() when this one is past get().
    const auto promise = std::make_shared<std::promise<void>>();
    opened.journal->commit(std::move(batch), [promise](const std::exception_ptr& failure) {
      if (failure) {
        promise->set_exception(failure);
      } else {
        promise->set_value();
      }
    });
    try {
      promise->get_future().get();
    } catch (const kafka::TransactionAborted& aborted) {
      throw kafka::LaneInterrupted(aborted.error());
    }
  }

  LaneOrder order_;
  const Setup& setup_;
  const config::Kafka& kafka_;
  kafka::ClientSettings client_;
  kafka::LanePlace place_;
  std::unique_ptr<kafka::KafkaJournal> journal_;
  std::optional<LaneChecks> checks_;
};

}  // namespace

OpenedLane open_lane(LaneOrder order) {
  return Opening(std::move(order)).open();
}

}  // namespace nustream::attach
