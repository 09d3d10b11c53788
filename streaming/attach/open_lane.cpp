// Taking a lane over, in the order of "Taking a lane over" in docs/formats/kafka.md: fence and end what the last
// owner left open, read the state, compare it with the topics, decide, and only then publish what is owed. Nothing is
// written before the decision.
#include "attach/open_lane.h"

#include <algorithm>
#include <exception>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "attach/opening.h"
#include "config/settings_difference.h"
#include "engine/noise_feed.h"
#include "engine/seal_batch.h"
#include "engine/spent.h"
#include "kafka/topic_checks.h"
#include "log/log.h"
#include "secrets/seal.h"
#include "users/open_table.h"

namespace nustream::attach {
namespace {

/// Whether the lane has ever taken a step, in any epoch. A lane that has taken none has nothing to prove about its
/// input.
bool took_steps(const journal::Ledger& ledger) {
  return std::any_of(ledger.epochs.begin(), ledger.epochs.end(),
                     [](const journal::LedgerEntry& entry) { return entry.steps > StepCount{0}; });
}

/// What was found of the input, as the decision takes it: another log says more than a proof that is missing, and
/// that says more than a gap.
engine::InputFound input_found(const kafka::LaneChecks::Input& input) {
  if (!input.changed.empty()) return engine::InputFound::changed;
  if (input.unproven) return engine::InputFound::unproven;
  return input.gap ? engine::InputFound::gap : engine::InputFound::held;
}

}  // namespace

OpenedLane Opening::open() {
  // This is asked before anything is taken over. Lanes below that number had their partitions at the start.
  if (order_.lane.value() >= setup_.lanes_with_room) {
    require_partitions(client_, place_, order_.partitions, kafka::in(kafka_.transaction));
  }
  require_users_lane(setup_, place_);
  journal_ = std::make_unique<kafka::KafkaJournal>(journal_options());
  // Fences the last owner, so that nothing that is read from here on changes any more.
  const std::optional<std::string> sealed = journal_->load();
  journal_->use_member(order_.member);
  checks_.emplace(client_, place_, setup_.keys, kafka_.transaction, *order_.cancelled);
  if (sealed) look_at_state(*sealed);
  if (found_.state != engine::Found::State::committed) look_at_remains();
  found_.ledger_of_another = journal::holds_another(ledger_, place_.stream, order_.lane);
  const engine::Decision decision = decided();
  if (const auto* refused = std::get_if<engine::Refuse>(&decision)) refuse(*refused);
  const auto* begins = std::get_if<engine::Begin>(&decision);
  if (begins != nullptr && begins->accepted_gap) say_accepted(begins->start);
  // The old outbox is published with the next state that is committed, also where that is the first one of a new
  // epoch.
  if (state_) journal_->recover(state_->record.recovery());
  return begins != nullptr ? begin() : go_on(std::get<engine::GoOn>(decision).overlap);
}

kafka::KafkaJournal::Options Opening::journal_options() const {
  std::vector<std::string> topics = lane_topics(place_);
  // Only lane 0 writes the combined model.
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

engine::Asked Opening::asked() const {
  engine::Asked asked{.accept_gap = order_.renewal.accept_gap};
  // A new epoch begins only where one is needed, because every lane of the process is given the same option, also
  // those that can go on.
  if (order_.renewal.new_epoch) asked.new_epoch = engine::Asked::NewEpoch::where_needed;
  // After measuring, the first epoch of steps begins over the very records that were measured. The ledger adds
  // both.
  if (is_behind_measuring_) {
    asked.new_epoch = engine::Asked::NewEpoch::always;
    asked.from = asked.accept_gap ? std::max(state_->record.start, found_.first) : state_->record.start;
  }
  return asked;
}

/// Throws the failure that names each setting in which the state differs.
void Opening::refuse_other_settings() const {
  config::BesideTexts beside = config::beside_texts(setup_.config, *order_.mechanism);
  beside.is_attached = true;
  beside.new_epoch = setup_.new_epoch;
  beside.rho_there = engine::limit_of(engine::ledger_of(state_->record).epochs, state_->identity.epoch);
  config::require_same_settings(state_->record.settings, state_->identity.settings_digest, setup_.digests, beside);
  throw Failure(Exit::internal, "settings that are the same have two digests");
}

void Opening::look_at_state(const std::string& sealed) {
  using State = engine::Found::State;
  secrets::ExpectedIdentity expected{place_.stream, order_.lane, std::nullopt, std::nullopt,
                                     setup_.keys.is_private()};
  try {
    state_ = journal::open_state(setup_.keys, sealed, expected);
    // The state is under the rule of the measuring itself: no epoch of steps has begun yet.
    is_behind_measuring_ = state_->identity.settings_digest == setup_.ranges_rule;
    // A new epoch may have other settings, and is charged for its own.
    if (!order_.renewal.new_epoch && !is_behind_measuring_) {
      if (!setup_.digests.has(state_->identity.settings_digest)) refuse_other_settings();
    }
  } catch (const Failure& failure) {
    const bool is_damage = failure.code() == Exit::data && !secrets::is_foreign(sealed, expected);
    return unusable(is_damage ? State::unusable : State::foreign);
  }
  try {
    checks_->check_outputs(*state_);
    // The spend of the state is exact. The topic's last line may reserve more, which `reserving` says.
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
  found_.noise_is_used_up = engine::noise_is_used_up(*order_.mechanism, state_->record.noise, state_->identity.steps);
  found_.input = input_found(*input_);
  found_.first = position_of(input_->log.low);
  // Behind another log an epoch begins at the end of what is there.
  if (found_.input == engine::InputFound::changed) found_.end = position_of(checks_->input_end());
  // Users of other settings may be counted otherwise. The epoch that begins opens them (users_of_epoch()).
  if (setup_.config.users && !found_.other_settings) look_at_users();
}

void Opening::look_at_users() {
  try {
    users_ = users_opening().resumed(state_->record);
  } catch (const kafka::KafkaFailure&) {
    throw;
  } catch (const LaneWasClosed&) {
    // Where the lane would go on all the same, go_on() throws this.
    why_no_users_ = std::current_exception();
  } catch (const Failure& failure) {
    if (!users::tells_of_lost_store(failure)) throw;
    why_no_users_ = std::current_exception();
    found_.users_are_lost = true;
  }
}

void Opening::unusable(engine::Found::State as) {
  found_.state = as;
  why_unusable_ = std::current_exception();
  // A state that is set aside tells nothing: it may be any state of the past.
  state_.reset();
  input_.reset();
  is_behind_measuring_ = false;
  ledger_ = {};
}

void Opening::look_at_remains() {
  const bool anew = order_.renewal.new_epoch;
  if (found_.state != engine::Found::State::none && !anew) return;  // will be refused, whatever the topics hold
  // Beside a foreign state nothing begins, whatever the topics hold.
  if (found_.state == engine::Found::State::foreign) return;
  kafka::LaneChecks::Remains remains = checks_->remains();
  found_.has_remains = remains.any();
  // It will be refused: without --new-epoch nothing begins beside remains.
  if (remains.any() && !anew) return;
  if (remains.committed) found_.committed_offset = position_of(*remains.committed);
  found_.other_kind = remains.last_release && remains.last_release->is_private != setup_.keys.is_private();
  found_.last_release = std::move(remains.last_release);
  ledger_ = std::move(remains.ledger);
  if (found_.has_remains) {
    found_.first = position_of(checks_->input_log().low);
    found_.end = position_of(checks_->input_end());
  } else {
    // The lane has no past, and begins where the settings say.
    found_.first = first_start();
  }
}

void Opening::refuse(const engine::Refuse& refused) const {
  using engine::Refusal;
  switch (refused.reason) {
    case Refusal::remains_without_state:
      throw Failure(Exit::data,
                    fmt::format("lane {}: there are releases, a ledger or a committed offset but no state; "
                                "restore the state topic, or begin a new noise epoch behind them with --new-epoch",
                                place_.name()));
    case Refusal::other_kind:
      throw Failure(
          Exit::data,
          fmt::format("lane {}: topic '{}' holds releases that are {}private, and this run is {}private; name "
                      "another kafka.release_topic",
                      place_.name(), place_.topics.releases, setup_.keys.is_private() ? "not " : "",
                      setup_.keys.is_private() ? "" : "not "));
    case Refusal::spend_not_known:
      throw Failure(Exit::data,
                    fmt::format("lane {}: the ledger has no spend for the last release (epoch {}, step "
                                "{}); {}",
                                place_.name(), found_.last_release->epoch.value(), found_.last_release->steps.value(),
                                kafka::without_ledger("as rho_ledger of that release says it")));
    case Refusal::other_ledger:
      throw Failure(Exit::data, fmt::format("lane {}: partition {} of the ledger topic holds lines of another stream "
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

void Opening::say_accepted(Position start) const {
  log::warning("gap_accepted",
               fmt::format("lane {}: {}; goes on from offset {} in a new epoch, as --accept-gap says", place_.name(),
                           gap_text(), start.value()),
               {{"lane", std::uint64_t{place_.lane.value()}}, {"offset", start.value()}});
}

std::string Opening::gap_text() const {
  if (!state_) return kafka::shorter_log(found_.end->value(), engine::furthest_read(found_, ledger_.epochs).value());
  if (!input_->changed.empty()) return input_->changed;
  const Position position = state_->record.position;
  if (input_->gap) {
    return fmt::format("offsets {} to {} of the input are gone before they were read", position.value(),
                       input_->log.low.value() - 1);
  }
  return fmt::format("the group's committed offset is gone, and no record before offset {} is left to compare",
                     position.value());
}

bool Opening::is_later_partition() const {
  if (order_.lane == LaneId{0}) return false;
  const kafka::LanePlace first{place_.stream, LaneId{0}, place_.group, place_.topics};
  const auto sealed = kafka::committed_state(client_, first, kafka_.transaction);
  return sealed && order_.lane.value() >= journal::open_state(setup_.keys, *sealed).record.partitions;
}

OpenedLane open_lane(LaneOrder order) {
  return Opening(std::move(order)).open();
}

}  // namespace nustream::attach
