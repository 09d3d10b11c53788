#include "attach/open_lane.h"

#include <algorithm>
#include <exception>
#include <future>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "attach/lane_bounds.h"
#include "config/settings_difference.h"
#include "engine/epoch_decision.h"
#include "engine/going_on.h"
#include "engine/noise_feed.h"
#include "engine/seal_batch.h"
#include "journal/completion.h"
#include "kafka/interruption.h"
#include "kafka/lane_checks.h"
#include "kafka/topic_checks.h"
#include "log/log.h"
#include "secrets/seal.h"
#include "users/damaged_table.h"

namespace nustream::attach {
namespace {

using kafka::LaneChecks;

bool took_steps(const journal::Ledger& ledger) {
  return std::any_of(ledger.epochs.begin(), ledger.epochs.end(),
                     [](const journal::LedgerEntry& entry) { return entry.steps > StepCount{0}; });
}

engine::InputFound input_found(const LaneChecks::Input& input) {
  if (!input.changed.empty()) return engine::InputFound::changed;
  if (input.unproven) return engine::InputFound::unproven;
  return input.gap ? engine::InputFound::gap : engine::InputFound::held;
}

/// The steps of opening one lane. It finds out what the topics hold (look_at_...), asks engine::decide() what follows
/// from that, and then refuses, goes on, or begins an epoch.
class Opening {
 public:
  explicit Opening(LaneOrder order)
      : order_(std::move(order)),
        setup_(*order.setup),
        kafka_(setup_.config.kafka),
        client_{kafka_.brokers, kafka_.properties, order_.cancelled.get()},
        place_{setup_.config.stream, order_.lane, kafka_.group, kafka_.topics} {}

  OpenedLane open() {
    if (order_.lane.value() >= setup_.lanes_with_room) {
      require_partitions(client_, place_, order_.partitions, kafka::in(kafka_.transaction));
    }
    require_users_lane(setup_, place_);
    journal_ = std::make_unique<kafka::KafkaJournal>(journal_options());
    const std::optional<std::string> sealed = journal_->load();
    journal_->use_member(order_.member);
    checks_.emplace(client_, place_, setup_.keys, kafka_.transaction, *order_.cancelled);
    if (sealed) look_at_state(*sealed);
    if (found_.state != engine::Found::State::committed) look_at_remains();
    found_.ledger_of_another = journal::holds_another(ledger_, place_.stream, order_.lane);
    const engine::Decision decision = engine::decide(found_, ledger_.epochs, asked(), engine::Keeping::topics);
    if (const auto* refused = std::get_if<engine::Refuse>(&decision)) refuse(*refused);
    const auto* begins = std::get_if<engine::Begin>(&decision);
    if (begins != nullptr && begins->accepted_gap) say_accepted(begins->start);
    // The old outbox is published with the next state that is committed, also where that is the first one of a new
    // epoch.
    if (state_) journal_->recover(state_->record.recovery());
    return begins != nullptr ? begin(*begins) : go_on(std::get<engine::GoOn>(decision).overlap);
  }

 private:
  [[nodiscard]] kafka::KafkaJournal::Options journal_options() const {
    std::vector<std::string> topics = lane_topics(place_);
    if (!place_.topics.model.empty() && order_.lane == LaneId{0}) topics.push_back(place_.topics.model);
    return {client_,
            place_,
            kafka_.transaction,
            [client = writing_client(client_, place_, setup_), id = place_.name(), topics] {
              return kafka::transactional_producer(client, id, topics);
            },
            order_.post,
            order_.cancelled.get(),
            order_.out_of_time};
  }

  [[nodiscard]] engine::Asked asked() const {
    engine::Asked asked{.accept_gap = order_.renewal.accept_gap};
    if (order_.renewal.new_epoch) asked.new_epoch = engine::Asked::NewEpoch::where_needed;
    // After measuring, the first epoch of steps begins over the very records that were measured. The ledger adds
    // both.
    if (is_behind_measuring_) {
      asked.new_epoch = engine::Asked::NewEpoch::always;
      asked.from = asked.accept_gap ? std::max(state_->record.start, found_.first) : state_->record.start;
    }
    return asked;
  }

  [[noreturn]] void refuse_other_settings() const {
    config::BesideTexts beside = config::beside_texts(setup_.config, *order_.mechanism);
    beside.is_attached = true;
    for (const journal::LedgerEntry& entry : engine::ledger_of(state_->record).epochs) {
      if (entry.epoch == state_->identity.epoch) beside.rho_there = entry.rho_limit.value();
    }
    config::require_same_settings(state_->record.settings, state_->identity.settings_digest, setup_.digests, beside);
    throw Failure(Exit::internal, "settings that are the same have two digests");
  }

  /// Opens the state and compares it with the topics. A state that does not open, or that is older than what the
  /// topics hold, does not tell what is public. It is set aside then, and where a new epoch may begin,
  /// look_at_remains() reads what is public from the topics themselves.
  void look_at_state(const std::string& sealed) {
    using State = engine::Found::State;
    secrets::ExpectedIdentity expected{place_.stream, order_.lane, std::nullopt, std::nullopt,
                                       setup_.keys.is_private()};
    try {
      state_ = journal::open_state(setup_.keys, sealed, expected);
      is_behind_measuring_ = state_->identity.settings_digest == setup_.ranges_rule;
      if (!order_.renewal.new_epoch && !is_behind_measuring_) {
        if (!setup_.digests.has(state_->identity.settings_digest)) refuse_other_settings();
      }
    } catch (const Failure& failure) {
      const bool is_damage = failure.code() == Exit::data && !secrets::is_foreign(sealed, expected);
      return unusable(is_damage ? State::unusable : State::foreign);
    }
    try {
      checks_->check_outputs(*state_);
      ledger_ = engine::ledger_of(state_->record);
      ledger_.reserving = checks_->reserving();
      input_ = checks_->check_input(state_->record, took_steps(ledger_));
    } catch (const kafka::StateRolledBack&) {
      return unusable(State::rolled_back);
    }
    found_.state = State::committed;
    found_.epoch = state_->identity.epoch;
    found_.position = state_->record.position;
    found_.other_settings = !setup_.digests.has(state_->identity.settings_digest);
    found_.noise_is_used_up =
        order_.mechanism->horizon() == state_->identity.steps ||
        !engine::can_be_resumed(state_->record.noise, StepIndex{state_->identity.steps.value()});
    found_.input = input_found(*input_);
    found_.first = position_of(input_->log.low);
    if (found_.input == engine::InputFound::changed) found_.end = position_of(checks_->input_end());
    if (setup_.config.users && !found_.other_settings) look_at_users();
  }

  /// Rebuilds the users of a state that may be gone on with. A lost store does not end the opening here: a new epoch
  /// of the same settings may begin, and is charged beside the epochs before it.
  void look_at_users() {
    try {
      users_ = users_opening().resumed(state_->record);
    } catch (const kafka::KafkaFailure&) {
      throw;
    } catch (const LaneWasClosed&) {
      why_no_users_ = std::current_exception();
    } catch (const Failure& failure) {
      if (!users::tells_of_lost_store(failure)) throw;
      why_no_users_ = std::current_exception();
      found_.users_are_lost = true;
    }
  }

  /// Sets the state aside. To be called within a handler: its exception is kept, and thrown again where the lane
  /// cannot do without the state.
  void unusable(engine::Found::State as) {
    found_.state = as;
    why_unusable_ = std::current_exception();
    state_.reset();
    input_.reset();
    is_behind_measuring_ = false;
    ledger_ = {};
  }

  /// Finds out what the topics hold of the lane where no usable state does.
  void look_at_remains() {
    const bool anew = order_.renewal.new_epoch;
    if (found_.state != engine::Found::State::none && !anew) return;  // will be refused, whatever the topics hold
    if (found_.state == engine::Found::State::foreign) return;
    LaneChecks::Remains remains = checks_->remains();
    found_.has_remains = remains.any();
    if (remains.any() && !anew) return;
    if (remains.committed) found_.committed_offset = position_of(*remains.committed);
    found_.other_kind = remains.last_release && remains.last_release->is_private != setup_.keys.is_private();
    found_.last_release = std::move(remains.last_release);
    ledger_ = std::move(remains.ledger);
    if (found_.has_remains) {
      found_.first = position_of(checks_->input_log().low);
      found_.end = position_of(checks_->input_end());
    } else {
      found_.first = first_start();
    }
  }

  [[noreturn]] void refuse(const engine::Refuse& refused) const {
    using engine::Refusal;
    switch (refused.reason) {
      case Refusal::remains_without_state:
        throw Failure(Exit::data,
                      fmt::format("lane {}: there are releases, a ledger or a committed offset but no state; "
                                  "restore the state topic, or begin a new noise epoch behind them with --new-epoch",
                                  place_.name()));
      case Refusal::other_kind:
        throw Failure(Exit::data,
                      fmt::format("lane {}: topic '{}' holds releases that are {}private, and this run is "
                                  "{}private; name another kafka.release_topic",
                                  place_.name(), place_.topics.releases, setup_.keys.is_private() ? "not " : "",
                                  setup_.keys.is_private() ? "" : "not "));
      case Refusal::spend_not_known:
        throw Failure(Exit::data, fmt::format("lane {}: the ledger has no spend for the last release (epoch {}, step "
                                              "{}); restore the ledger topic",
                                              place_.name(), found_.last_release->epoch.value(),
                                              found_.last_release->steps.value()));
      case Refusal::other_ledger:
        throw Failure(Exit::data,
                      fmt::format("lane {}: partition {} of the ledger topic holds lines of another stream "
                                  "or lane; name another kafka.ledger_topic",
                                  place_.name(), order_.lane.value()));
      case Refusal::gap:
        throw Failure(Exit::data,
                      fmt::format("lane {}: {}; nothing was published: restore what was lost, or go on from "
                                  "offset {} with --new-epoch --accept-gap",
                                  place_.name(), gap_text(), refused.start.value()));
      default:
        // The other reasons were found by a check that threw. Its exception has the better message.
        NUSTREAM_REQUIRE(why_unusable_ != nullptr, "a refusal that nobody has words for");
        std::rethrow_exception(why_unusable_);
    }
  }

  void say_accepted(Position start) const {
    log::warning("gap_accepted",
                 fmt::format("lane {}: {}; goes on from offset {} in a new epoch, as --accept-gap says",
                             place_.name(), gap_text(), start.value()),
                 {{"lane", std::uint64_t{place_.lane.value()}}, {"offset", start.value()}});
  }

  /// The gap that is accepted, or would have to be, in words. Without a state a gap can only be a log that ends
  /// before the offsets that the lane's remains tell of.
  [[nodiscard]] std::string gap_text() const {
    if (!state_)
      return kafka::shorter_log(found_.end->value(), engine::furthest_read(found_, ledger_.epochs).value());
    if (!input_->changed.empty()) return input_->changed;
    const Position position = state_->record.position;
    if (input_->gap) {
      return fmt::format("offsets {} to {} of the input are gone before they were read", position.value(),
                         input_->log.low.value() - 1);
    }
    return fmt::format("the group's committed offset is gone, and no record before offset {} is left to compare",
                       position.value());
  }

  [[nodiscard]] engine::EpochIdentity identity_of(EpochId epoch, Position start, journal::Overlap overlap,
                                                  const std::string& digest, bool carries_over) const {
    return {place_.stream,
            order_.lane,
            epoch,
            start,
            overlap,
            digest,
            setup_.config.privacy.neighbours(),
            setup_.keys.is_private(),
            setup_.digests.text_of(digest),
            setup_.config.descent.users,
            carries_over,
            setup_.config.privacy.budget};
  }

  OpenedLane go_on(journal::Overlap overlap) {
    journal::StateRecord& record = state_->record;
    const config::Mechanism& mechanism = *order_.mechanism;
    engine::EpochIdentity identity =
        identity_of(state_->identity.epoch, record.start, overlap, state_->identity.settings_digest,
                    began_with_counts(ledger_, state_->identity.epoch));
    if (why_no_users_) std::rethrow_exception(why_no_users_);
    Stop stop = bounds().stop_of(record);
    // A new stop has to be durable before any record is read: after a crash the end would otherwise be resolved
    // again, to another offset.
    const bool is_new_stop = stop.position != record.stop || stop.asked != record.stop_asked;
    OpenedLane opened{std::move(journal_),
                      {std::move(order_.mechanism), engine::decoded_estimator(setup_.config, mechanism, record.lane),
                       engine::EpochLedger(std::move(identity), mechanism, std::move(ledger_)),
                       kafka::SeenRecords(std::move(record.seen)), stop.position, std::move(stop.asked),
                       record.rejected, record.partitions, state_->identity.steps, std::move(users_)},
                      std::move(record.noise),
                      true,
                      record.released,
                      {}};
    use_users(opened.state);
    use_chain(opened.state, record.release_head);
    NUSTREAM_REQUIRE(opened.state.lane.steps() == state_->identity.steps,
                     "the sealed lane is at another step than its seal says");
    // The last published release is what the outbox holds, which commit_alone() publishes below; else it is in the
    // topic, at or behind the offset before the one that the bookmark names.
    const kafka::Offset from = kafka::decode_bookmark(record.bookmark).releases_from;
    const bool owes = opened.journal->owes_releases();
    opened.last_published = owes
                                ? LaneChecks::Published{opened.journal->outbox(), std::nullopt}
                                : checks_->last_published(kafka::Offset{std::max<std::int64_t>(from.value() - 1, 0)});
    if (owes || is_new_stop) commit_alone(opened);
    return opened;
  }

  /// Begins an epoch. Where a state opened, its marks of the records that were read are carried over, so that a later
  /// change of the input is noticed. They are dropped where the input is another log, or where the epoch reads the
  /// same records again.
  OpenedLane begin(const engine::Begin& begins) {
    std::vector<journal::SeenRecord> seen;
    const bool reads_again = is_behind_measuring_;  // the marks are of records that this epoch has yet to read
    if (state_ && found_.input != engine::InputFound::changed && !reads_again) seen = std::move(state_->record.seen);
    EpochUsers users;
    users_.reset();  // one table of a lane is open at a time
    if (setup_.config.users) {
      users = users_opening().of_epoch(
          {state_ ? &state_->record : nullptr, ledger_, found_.has_remains || state_, order_.renewal.new_epoch,
           order_.renewal.accept_gap},
          [this](journal::KeyedRecord record) {
            wait_for([&](journal::Completion done) { journal_->write_users(std::move(record), std::move(done)); });
          });
    }
    const std::optional<journal::LedgerEntry> owed = owed_by(users, ledger_, order_.lane, begins.start);
    // The last ledger line of the epoch before may reserve steps that were never taken. The state knows how many
    // were, and a line that says so goes out with the new epoch's first state.
    std::optional<journal::LedgerEntry> closing;
    if (ledger_.reserving) closing = ledger_.epochs.back();
    const EpochId epoch = owed && ledger_.epochs.empty() ? EpochId{1} : begins.epoch;
    Stop stop = bounds().stop();
    noise::KeyBytes key = setup_.keys.epoch_key(place_.stream);
    const config::Mechanism& mechanism = *order_.mechanism;
    journal::NoiseCheckpoints first = journal::first_checkpoints(key, order_.lane, epoch, mechanism.stages.size());
    noise::wipe(key);
    using config::EpochStart;
    const bool from_start = (order_.renewal.from_start || is_behind_measuring_) && begins.epoch.value() > 0;
    engine::EpochIdentity identity = identity_of(
        epoch, begins.start, begins.overlap,
        setup_.digests.of(from_start ? EpochStart::settings : EpochStart::last_release), users.carries_over);
    OpenedLane opened{
        std::move(journal_),
        {std::move(order_.mechanism), engine::first_estimator(setup_.config, mechanism, begins.start),
         engine::EpochLedger(std::move(identity), mechanism, std::move(ledger_)), kafka::SeenRecords(std::move(seen)),
         stop.position, std::move(stop.asked), 0, partitions_of_epoch(), std::nullopt, std::move(users.users)},
        std::move(first),
        false,
        StepCount{0},
        {}};
    use_users(opened.state);
    use_chain(opened.state, state_ ? state_->record.release_head : journal::empty_release_head);
    if (closing && !owed) opened.state.ledger.owe(*closing);
    if (owed) opened.state.ledger.owe(*owed);
    if (begins.epoch.value() > 0) {
      log::info("epoch_begun",
                fmt::format("lane {}: {}", place_.name(),
                            is_behind_measuring_ ? engine::begun_behind_measuring(begins.epoch)
                            : from_start         ? engine::begun_from_start(begins.epoch)
                                                 : go_on_from_last(opened, begins.epoch)),
                {{"lane", std::uint64_t{order_.lane.value()}},
                 {"epoch", std::uint64_t{begins.epoch.value()}},
                 {"offset", begins.start.value()}});
    }
    // Key, start and stop become durable before any record is read, and are never drawn or resolved again.
    commit_alone(opened);
    return opened;
  }

  /// Lets the epoch go on from the last release. That is the last line of the old outbox, which the epoch's first
  /// transaction publishes, or the last line that a reader of committed records finds. It is never something that is
  /// in a state alone: the new epoch's start has to be public.
  [[nodiscard]] std::string go_on_from_last(OpenedLane& opened, EpochId epoch) {
    const std::string published = opened.journal->owes_releases() ? opened.journal->outbox() : last_published();
    try {
      return engine::go_on_from_last(opened.state.lane, epoch, published, setup_.config, setup_.keys.is_private());
    } catch (const Failure& failure) {
      throw Failure(failure.code(), fmt::format("lane {}: {}", place_.name(), failure.what()));
    }
  }

  /// The lane's last release: looked for where the state says that it is, and then in all of the topic. Empty where
  /// there is none.
  [[nodiscard]] std::string last_published() {
    if (state_) {
      const kafka::Offset from = kafka::decode_bookmark(state_->record.bookmark).releases_from;
      const auto found = checks_->last_published(kafka::Offset{std::max<std::int64_t>(from.value() - 1, 0)});
      if (found) return found->text;
    }
    const auto found = checks_->last_published(kafka::Offset{0});
    return found ? found->text : std::string();
  }

  /// How many partitions the input had when the lane began. Where that is lost it is taken as 1: every other
  /// partition then counts as a later one and begins at its first record, so that no record is skipped.
  [[nodiscard]] std::uint32_t partitions_of_epoch() const {
    if (state_) return state_->record.partitions;
    return found_.has_remains ? 1 : order_.partitions;
  }

  /// Where a lane without a past begins. A partition that was added later begins at its first record, whatever
  /// kafka.start says: all of its records came after the stream began.
  Position first_start() { return is_later_partition() ? position_of(checks_->input_log().low) : bounds().start(); }

  [[nodiscard]] UsersOpening users_opening() const { return {setup_, client_, place_, *order_.cancelled}; }

  static void use_users(LaneState& state) {
    if (state.users) state.lane.use(state.users->open(), state.users->clock());
  }

  /// Lets the chain of releases go on from the last one. The state knows its hash. Where there is no state, or an
  /// earlier version sealed it without that hash, the last release is read from the topic.
  void use_chain(LaneState& state, const journal::Hash& head) {
    state.releases = {setup_.config.descent.release_every,
                      head == journal::empty_release_head ? journal::release_head(last_published()) : head};
  }

  [[nodiscard]] LaneBounds bounds() { return {setup_.config, place_, *checks_}; }

  /// Whether the lane's partition was added after the stream began. The state of lane 0 remembers how many there
  /// were.
  [[nodiscard]] bool is_later_partition() const {
    if (order_.lane == LaneId{0}) return false;
    const kafka::LanePlace first{place_.stream, LaneId{0}, place_.group, place_.topics};
    const auto sealed = kafka::committed_state(client_, first, kafka_.transaction);
    return sealed && order_.lane.value() >= journal::open_state(setup_.keys, *sealed).record.partitions;
  }

  /// Commits a transaction without input: it publishes the releases that are owed, together with a state that no
  /// longer holds them.
  void commit_alone(OpenedLane& opened) {
    if (order_.cancelled->load() || order_.out_of_time->load()) throw kafka::Cancelled();
    journal::Batch batch =
        seal_batch(setup_, opened.state, {opened.noise.clone(), {}, {}, opened.released}, opened.journal->bookmark());
    wait_for([&](journal::Completion done) { opened.journal->commit(std::move(batch), std::move(done)); });
    if (opened.state.users) opened.state.users->committed(opened.journal->users_end());
  }

  /// Makes one transaction and waits for its end. Throws what it ended with; an abort as LaneInterrupted.
  static void wait_for(const std::function<void(journal::Completion)>& commit) {
    const auto promise = std::make_shared<std::promise<void>>();
    commit(journal::that_ends(promise));
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
  engine::Found found_;
  journal::Ledger ledger_;  // the lane's, from its state, or else from the ledger topic
  std::optional<journal::State> state_;
  std::optional<LaneChecks::Input> input_;
  std::exception_ptr why_unusable_;
  std::unique_ptr<TopicUsers> users_;  // rebuilt from a state that may be gone on with
  std::exception_ptr why_no_users_;
  bool is_behind_measuring_ = false;  // the state is of the epoch that measured: no epoch of steps has begun yet
};

}  // namespace

OpenedLane open_lane(LaneOrder order) {
  return Opening(std::move(order)).open();
}

}  // namespace nustream::attach
