// The epoch of a lane that is opened: it goes on from its state, or it begins.
#include <algorithm>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "attach/measuring.h"
#include "attach/opening.h"
#include "engine/going_on.h"
#include "engine/noise_feed.h"
#include "engine/seal_batch.h"
#include "kafka/interruption.h"
#include "log/log.h"

namespace nustream::attach {

engine::EpochIdentity Opening::identity_of(EpochId epoch, Position start, journal::Overlap overlap,
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

OpenedLane Opening::go_on(journal::Overlap overlap) {
  journal::StateRecord& record = state_->record;
  const config::Mechanism& mechanism = *order_.mechanism;
  engine::EpochIdentity identity =
      identity_of(state_->identity.epoch, record.start, overlap, state_->identity.settings_digest,
                  journal::began_with_counts(ledger_, state_->identity.epoch));
  // Only now is it sure that the lane goes on. Where an epoch began instead, a lost store of users was no failure.
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
  opened.last_published = owes ? kafka::LaneChecks::Published{opened.journal->outbox(), std::nullopt}
                               : checks_->last_published(kafka::Offset{std::max<std::int64_t>(from.value() - 1, 0)});
  // In all other cases the state that was found is durable as it is, and nothing waits to be published.
  if (owes || is_new_stop) commit_alone(opened);
  return opened;
}

OpenedLane Opening::begin() {
  EpochUsers users = users_of_epoch();
  const engine::Begin begins = beginning(users);
  std::vector<journal::SeenRecord> seen = carried_marks();
  Stop stop = bounds().stop();
  const config::Mechanism& mechanism = *order_.mechanism;
  // Fresh random bytes from the kernel in a private run: noise of this epoch has nothing to do with that of any epoch
  // before.
  journal::NoiseCheckpoints first =
      engine::noise_of_new_epoch(setup_.keys, place_.stream, order_.lane, begins.epoch, mechanism);
  const bool from_start = is_from_start(begins.epoch);
  const auto start = from_start ? config::EpochStart::settings : config::EpochStart::last_release;
  engine::EpochIdentity identity =
      identity_of(begins.epoch, begins.start, begins.overlap, setup_.digests.of(start), users.carries_over);
  // No other line can be known to be lost: topics have no witness.
  const std::vector<journal::LedgerEntry> owed = engine::lines_before_epoch(ledger_, {}, begins.owed);
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
  // The lines are written with the first state, and so before anything of this epoch is spent.
  for (const journal::LedgerEntry& line : owed) opened.state.ledger.owe(line);
  if (begins.epoch.value() > 0) say_begun(begins, beginning_in_words(opened, begins.epoch));
  // Key, start and stop become durable before any record is read, and are never drawn or resolved again.
  commit_alone(opened);
  return opened;
}

EpochUsers Opening::users_of_epoch() {
  users_.reset();  // one table of a lane is open at a time
  if (!setup_.config.users) return {};
  return users_opening().of_epoch(
      {.state = state_ ? &state_->record : nullptr,
       .ledger = ledger_,
       .has_remains = found_.has_remains || state_,
       .may_change = order_.renewal.new_epoch,
       .has_only_measured = state_ && has_only_measured(*state_),
       .accepts_loss = order_.renewal.accept_gap},
      [this](journal::KeyedRecord record) {
        wait_for([&](journal::Completion done) { journal_->write_users(std::move(record), std::move(done)); });
      });
}

engine::Begin Opening::beginning(const EpochUsers& users) {
  found_.moved = users.spent;
  if (found_.moved) found_.moved->lane = order_.lane;
  // A second decision, with what the users bring: the epoch's number and the line that it owes may follow from it.
  return std::get<engine::Begin>(decided());
}

std::vector<journal::SeenRecord> Opening::carried_marks() {
  // Behind measuring, the marks are of records that this epoch has yet to read.
  if (!state_ || found_.input == engine::InputFound::changed || is_behind_measuring_) return {};
  return std::move(state_->record.seen);
}

std::string Opening::beginning_in_words(OpenedLane& opened, EpochId epoch) {
  if (is_behind_measuring_) return engine::begun_behind_measuring(epoch);
  return is_from_start(epoch) ? engine::begun_from_start(epoch, setup_.config) : go_on_from_last(opened, epoch);
}

void Opening::say_begun(const engine::Begin& begins, const std::string& words) const {
  log::info("epoch_begun", fmt::format("lane {}: {}", place_.name(), words),
            {{"lane", std::uint64_t{order_.lane.value()}},
             {"epoch", std::uint64_t{begins.epoch.value()}},
             {"offset", begins.start.value()}});
}

std::string Opening::go_on_from_last(OpenedLane& opened, EpochId epoch) {
  // What the old state still owes is newer than anything in the topic. It becomes public with this epoch's first
  // transaction.
  const std::string published = opened.journal->owes_releases() ? opened.journal->outbox() : last_published();
  try {
    return engine::go_on_from_last(opened.state.lane, epoch, published, setup_.config, setup_.keys.is_private());
  } catch (const Failure& failure) {
    throw Failure(failure.code(), fmt::format("lane {}: {}", place_.name(), failure.what()));
  }
}

std::string Opening::last_published() {
  if (state_) {
    const kafka::Offset from = kafka::decode_bookmark(state_->record.bookmark).releases_from;
    // The last release before the bookmark mostly stands one offset before it.
    const auto found = checks_->last_published(kafka::Offset{std::max<std::int64_t>(from.value() - 1, 0)});
    if (found) return found->text;
  }
  const auto found = checks_->last_published(kafka::Offset{0});
  return found ? found->text : std::string();
}

std::uint32_t Opening::partitions_of_epoch() const {
  if (state_) return state_->record.partitions;
  return found_.has_remains ? 1 : order_.partitions;
}

void Opening::use_users(LaneState& state) {
  if (state.users) state.lane.use(state.users->open(), state.users->clock());
}

void Opening::use_chain(LaneState& state, const journal::Hash& head) {
  state.releases = {setup_.config.descent.release_every,
                    head == journal::empty_release_head ? journal::release_head(last_published()) : head};
}

void Opening::commit_alone(OpenedLane& opened) {
  // This is the last look before the transaction: a lane that was taken away writes nothing more.
  if (order_.cancelled->load() || order_.out_of_time->load()) throw kafka::Cancelled();
  // The state has neither outbox nor letters: no step was taken since the one before it.
  journal::Batch batch =
      seal_lane(setup_, opened.state, {opened.noise.clone(), {}, {}, opened.released}, opened.journal->bookmark());
  wait_for([&](journal::Completion done) { opened.journal->commit(std::move(batch), std::move(done)); });
  // The table takes the changes only once they are durable.
  if (opened.state.users) opened.state.users->committed(opened.journal->users_end());
}

void Opening::wait_for(const std::function<void(journal::Completion)>& commit) {
  const auto promise = std::make_shared<std::promise<void>>();
  commit(journal::that_ends(promise));
  try {
    promise->get_future().get();
  } catch (const kafka::TransactionAborted& aborted) {
    // What is opened has no batch to send again. A new attempt takes the lane over from the beginning.
    throw kafka::LaneInterrupted(aborted.error());
  }
}

}  // namespace nustream::attach
