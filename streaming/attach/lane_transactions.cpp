// There is one transaction at a time, from sealing to what is shown. Two rules are kept here. Nothing is shown before
// the commit that makes it durable; and a batch is either sent again byte for byte, or thrown away with its producer,
// so that no reader ever sees two versions of a step.
#include "attach/lane_transactions.h"

#include <utility>

#include <fmt/format.h>

#include "kafka/interruption.h"
#include "log/log.h"
#include "serve/committed.h"

namespace nustream::attach {
namespace {

/// What no part of the journal foresees, such as memory that runs out while users are sealed: it ends this lane
/// alone.
Failure unforeseen_end(LaneId lane, const std::exception& cause) {
  return {Exit::internal, fmt::format("commit lane {}: {}; nothing that was committed is lost: start again",
                                      lane.value(), cause.what())};
}

double seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

/// True for an error that no waiting mends: a right that is not granted, a record that is larger than the topic
/// takes, a setting that the brokers do not allow, a wrong password. A token is no such case: a fresh one may only
/// have come too late.
bool is_refusal(const config::Kafka& kafka, const kafka::Error& error) {
  if (error.cause == kafka::Cause::authentication) return !config::renews_tokens(kafka.properties);
  return error.cause == kafka::Cause::authorization || error.cause == kafka::Cause::record_too_large ||
         error.cause == kafka::Cause::settings;
}

/// The topics that a transaction may write to. They are named for an error of a whole transaction, since brokers do
/// not always say which topic it is about.
std::string topics_of(const config::Topics& topics) {
  std::string names;
  for (const std::string* topic :
       {&topics.state, &topics.ledger, &topics.releases, &topics.dead_letters, &topics.model}) {
    if (!topic->empty()) names += (names.empty() ? "'" : ", '") + *topic + "'";
  }
  return names;
}

}  // namespace

std::variant<Interrupted, Failure> judged(const config::Kafka& kafka, LaneId lane, const kafka::Error& error) {
  if (!is_refusal(kafka, error)) return Interrupted{error};
  const std::string where = error.topic.empty() ? " to one of " + topics_of(kafka.topics) + ", or the offsets of '" +
                                                      kafka.topics.input + "' for group " + kafka.group
                                                : "";
  return kafka::KafkaFailure("commit lane " + std::to_string(lane.value()) + where, error);
}

LaneTransactions::LaneTransactions(const Setup& setup, LaneState& state, std::unique_ptr<kafka::KafkaJournal> journal,
                                   serve::PublicSurface& shown, serve::OperatorMetrics::Lane& metrics, Kept& kept)
    : setup_(setup),
      state_(state),
      journal_(std::move(journal)),
      shown_(shown),
      metrics_(metrics),
      kept_(kept),
      committed_(state.lane.position()) {}

void LaneTransactions::commit(ClosedBatch batch, Member member, Time now, journal::Completion done) {
  NUSTREAM_REQUIRE(is_free(), "one transaction at a time, and none before a batch that waits to be sent again");
  published_ = journal_->outbox();
  published_closed_ = std::exchange(outbox_closed_, batch.closed);
  figures_ = batch.figures;
  state_.rejected += batch.rejects;
  letter_bytes_ = 0;
  for (const journal::DeadLetter& letter : batch.content.dead_letters) letter_bytes_ += letter.bytes;
  sent_ = std::make_shared<journal::Batch>(seal_lane(setup_, state_, std::move(batch.content), journal_->bookmark()));
  sent_at_ = now;
  send(std::move(member), std::move(done));
}

void LaneTransactions::commit_again(Member member, journal::Completion done) {
  NUSTREAM_REQUIRE(stage_ == TransactionStage::batch_aborted, "a batch is sent again after it was aborted");
  send(std::move(member), std::move(done));
}

void LaneTransactions::send(Member member, journal::Completion done) {
  enter(TransactionEvent::send_batch);
  // A batch that is sent again may have to do without some of its letters by now.
  shorten_letters();
  journal_->use_member(std::move(member));
  journal_->commit(sent_, std::move(done));
}

void LaneTransactions::send_model(journal::Completion done) {
  enter(TransactionEvent::send_model);
  NUSTREAM_REQUIRE(kept_.model.has_value(), "a record of the model is there to be sent");
  // Taken out before it is sent. A newer record may come meanwhile, and waits in its place.
  model_ = *std::exchange(kept_.model, std::nullopt);
  journal_->publish_model(model_, std::move(done));
}

void LaneTransactions::end_pause() {
  enter(TransactionEvent::pause_over);
}

Ended LaneTransactions::ended(const std::exception_ptr& failure, Time now) {
  return stage_ == TransactionStage::model ? model_ended(failure) : batch_ended(failure, now);
}

/// What follows from the end of a batch's transaction, well or not.
Ended LaneTransactions::batch_ended(const std::exception_ptr& failure, Time now) {
  try {
    if (failure) std::rethrow_exception(failure);
    // The batch is durable. If a table on disk cannot take it, the lane's next owner finds it in the topics.
    if (state_.users) state_.users->committed(journal_->users_end());
  } catch (const kafka::TransactionAborted& aborted) {
    metrics_.transactions[serve::TransactionOutcome::aborted].Increment();
    // Nothing of the batch is readable as committed: the same bytes may be sent again.
    if (!give_up_letters(aborted.error()) && is_refusal(setup_.config.kafka, aborted.error()))
      return lost(aborted.error());
    enter(TransactionEvent::aborted);
    return Aborted{aborted.error()};
  } catch (const kafka::LaneInterrupted& interrupted) {
    const bool fenced = interrupted.error().cause == kafka::Cause::fenced;
    metrics_.transactions[fenced ? serve::TransactionOutcome::fenced : serve::TransactionOutcome::timed_out]
        .Increment();
    // Letters that cannot be written are not worth a lane: the lane is opened again and goes on without them.
    if (!give_up_letters(interrupted.error())) return lost(interrupted.error());
    // The lane is opened again, with a new producer and fewer letters.
    enter(TransactionEvent::lost);
    return Interrupted{interrupted.error()};
  } catch (const kafka::KafkaFailure& refused) {
    enter(TransactionEvent::lost);
    // The same for an error that nothing else would mend.
    if (give_up_letters(refused.error())) return Interrupted{refused.error()};
    return Failure(refused);
  } catch (const Failure& other) {
    enter(TransactionEvent::lost);
    return Failure(other);
  } catch (const std::exception& unforeseen) {
    enter(TransactionEvent::lost);
    return unforeseen_end(state_.id(), unforeseen);
  }
  return show_committed(now);
}

/// What follows from the end of a transaction of the combined model.
Ended LaneTransactions::model_ended(const std::exception_ptr& failure) {
  if (!failure) {
    enter(TransactionEvent::committed);
    // It is committed, and so public: it may be shown.
    shown_.update(serve::CommittedModel::published(model_));
    return Committed{};
  }
  if (!kept_.model) kept_.model = model_;  // the record is sent once more, unless a later one has come
  try {
    std::rethrow_exception(failure);
  } catch (const kafka::TransactionAborted& aborted) {
    enter(TransactionEvent::aborted);
    return Aborted{aborted.error()};
  } catch (const kafka::LaneInterrupted& interrupted) {
    return lost(interrupted.error());
  } catch (const Failure& other) {
    enter(TransactionEvent::lost);
    return Failure(other);
  } catch (const std::exception& unforeseen) {
    enter(TransactionEvent::lost);
    return unforeseen_end(state_.id(), unforeseen);
  }
}

Ended LaneTransactions::lost(const kafka::Error& error) {
  enter(TransactionEvent::lost);
  return std::visit([](auto end) -> Ended { return end; }, judged(setup_.config.kafka, state_.id(), error));
}

/// The batch is durable now, and what the batch before it had released is public: the same transaction published that
/// outbox. So this is the first moment at which either may be shown.
Committed LaneTransactions::show_committed(Time now) {
  enter(TransactionEvent::committed);
  metrics_.transactions[serve::TransactionOutcome::committed].Increment();
  metrics_.commit_seconds->Observe(seconds(now - sent_at_));
  count_batch();
  StepCount steps = *state_.steps_sealed;
  committed_ = sent_->position;
  shown_.update(serve::CommittedSpend::committed(state_.ledger.entry(steps, committed_),
                                                 state_.ledger.total(steps, committed_)));
  if (!published_.empty()) {
    metrics_.release_latency_seconds->Observe(seconds(now - published_closed_));
    shown_.update(serve::CommittedRelease::published(std::exchange(published_, {})));
  }
  outbox_since_ = owes_releases() ? std::optional(now) : std::nullopt;
  return {letter_bytes_, figures_.tally};
}

void LaneTransactions::count_batch() {
  metrics_.records->Increment(static_cast<double>(figures_.records));
  for (const serve::RejectReason reason : serve::reject_reasons) {
    metrics_.records_rejected[reason].Increment(
        static_cast<double>(figures_.rejected[static_cast<std::size_t>(reason)]));
  }
  metrics_.dead_letters_failed->Increment(static_cast<double>(figures_.letters_lost));
  if (figures_.seconds) metrics_.batch_seconds->Observe(*figures_.seconds);
  if (figures_.clipped_ratio) metrics_.gradients_clipped_ratio->Set(*figures_.clipped_ratio);
}

/// Returns whether the write failed because of a dead letter. If so, all further dead letters of this process are
/// reduced: to their reasons alone where they were too large, else to nothing. They stay reduced. Each attempt that
/// fails holds up releases. Such attempts would come only after records that could not be used, and the times of
/// releases would tell of those records.
bool LaneTransactions::give_up_letters(const kafka::Error& error) {
  using kafka::Cause;
  const std::string& topic = setup_.config.kafka.topics.dead_letters;
  if (topic.empty() || error.topic != topic || sent_->dead_letters.empty()) return false;
  if (error.cause == Cause::fenced || error.cause == Cause::lost_membership) return false;
  const bool too_large = kept_.letters == Letters::whole && error.cause == Cause::record_too_large;
  kept_.letters = too_large ? Letters::reasons : Letters::none;
  log::warning("dead_letters_refused",
               fmt::format("lane {}: dead letters could not be written to topic '{}' ({}): until the next start {}",
                           state_.id().value(), topic, error.text,
                           too_large ? "only their reasons are written"
                                     : "they are only counted; mend the topic, or the right to write to it, and "
                                       "start again"),
               {{"lane", std::uint64_t{state_.id().value()}}, {"topic", topic}});
  return true;
}

/// Reduces the dead letters of the batch to what kept_.letters allows. No record, and no trouble with the topic of
/// dead letters, may stop a lane.
void LaneTransactions::shorten_letters() {
  std::vector<journal::DeadLetter>& letters = sent_->dead_letters;
  if (kept_.letters == Letters::whole) return;
  if (kept_.letters == Letters::none) {
    figures_.letters_lost += letters.size();
    letters.clear();
  }
  for (journal::DeadLetter& letter : letters) {
    letter.key.reset();
    letter.value.reset();
    letter.headers.clear();
  }
}

}  // namespace nustream::attach
