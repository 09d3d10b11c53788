// The transactions of a lane: when a batch closes, what follows on its commit, and what on trouble.
#include <boost/asio/post.hpp>

#include <algorithm>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "attach/lane_worker.h"
#include "attach/open_lane_parts.h"
#include "kafka/interruption.h"
#include "planted.h"
#include "serve/committed.h"

namespace nustream::attach {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds backoff_max{5'000};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// No waiting mends it: a right that is not granted, a limit that the topic has.
bool is_refusal(const kafka::Error& error) {
  return error.cause == kafka::Cause::authorization || error.cause == kafka::Cause::authentication ||
         error.cause == kafka::Cause::record_too_large;
}

/// For an error of a whole transaction: brokers do not always say about which topic.
std::string topics_of(const config::Topics& topics) {
  std::string names;
  for (const std::string* topic :
       {&topics.state, &topics.ledger, &topics.releases, &topics.dead_letters, &topics.model}) {
    if (!topic->empty()) names += (names.empty() ? "'" : ", '") + *topic + "'";
  }
  return names;
}

/// Half to all of `pause`, so that lanes in the same trouble do not come back all at once.
milliseconds jittered(milliseconds pause, std::minstd_rand& random) {
  return milliseconds(std::uniform_int_distribution<std::int64_t>(pause.count() / 2, pause.count())(random));
}

}  // namespace

bool LaneWorker::has_uncommitted() const {
  return open_->batch_records > 0 || !open_->output.outbox.empty();
}

bool LaneWorker::is_busy() const {
  return phase_ == Phase::opening || (open_ && open_->in_flight);
}

bool LaneWorker::is_due(Clock::time_point now) const {
  const config::Config& config = host_.setup.config;
  const bool owes = open_->journal->owes_releases();
  if (phase_ == Phase::draining || end_) return has_uncommitted() || owes;
  if (owes && open_->outbox_since && now - *open_->outbox_since >= config.release_linger) return true;
  if (!has_uncommitted()) return false;
  return batch_room() == 0 || open_->limit_reached ||
         now - open_->batch_opened >= std::chrono::duration<double>(config.state.commit_seconds);
}

void LaneWorker::commit_if_due() {
  if (open_->in_flight || open_->resend) return;
  if (is_due(Clock::now())) {
    commit();
  } else if (model_) {
    send_model();
  }
}

void LaneWorker::commit() {
  Open& open = *open_;
  open.published = open.journal->outbox();
  open.published_closed = std::exchange(open.outbox_closed, Clock::now());
  if (open.batch_records > 0) {
    const std::uint64_t clipped = open.state.lane.clipped();
    open.figures.seconds = seconds_since(open.batch_opened);
    open.figures.clipped_ratio =
        static_cast<double>(clipped - open.clipped_before) / static_cast<double>(open.batch_records);
    open.clipped_before = clipped;
  }
  open.figures.records = std::exchange(open.batch_records, 0);
  open.sent_figures = std::exchange(open.figures, {});
  open.sent_letter_bytes = 0;
  if (NUSTREAM_PLANTED("page-is-ahead-of-its-state") && !open.output.outbox.empty())
    host_.shown.update(serve::CommittedRelease::published(open.output.outbox));
  for (const journal::DeadLetter& letter : open.letters) open.sent_letter_bytes += letter.bytes;
  open.sent = seal_batch(host_.setup, open.state,
                         {open.noise->checkpoints(), std::exchange(open.output.outbox, {}),
                          std::exchange(open.letters, {}), StepCount{open.stepper.released_at()}},
                         open.journal->bookmark());
  open.sent_at = Clock::now();
  send();
}

/// The batch, or once more the very same bytes.
void LaneWorker::send() {
  if (open_ == nullptr) return;
  open_->resend = false;
  open_->in_flight = true;
  shorten_letters();
  open_->journal->use_member(std::make_shared<const kafka::GroupMetadata>(host_.consumer.group_metadata()));
  open_->journal->commit(open_->sent, [self = shared_from_this()](std::exception_ptr failure) {
    boost::asio::post(self->host_.loop, [self, failure = std::move(failure)] { self->committed(failure); });
  });
}

/// After a transaction: whether the lane was told to end while it was under way.
bool LaneWorker::ends_here() {
  if (dropped_) {
    go();
  } else if (failure_) {
    fail(*std::exchange(failure_, std::nullopt));
  } else {
    return false;
  }
  return true;
}

void LaneWorker::committed(const std::exception_ptr& failure) {
  open_->in_flight = false;
  if (ends_here()) return;
  if (!failure) return after_commit();
  try {
    std::rethrow_exception(failure);
  } catch (const kafka::TransactionAborted& aborted) {
    metrics_.transactions[serve::TransactionOutcome::aborted].Increment();
    after_abort(aborted.error());
  } catch (const kafka::LaneInterrupted& interrupted) {
    const bool fenced = interrupted.error().cause == kafka::Cause::fenced;
    metrics_.transactions[fenced ? serve::TransactionOutcome::fenced : serve::TransactionOutcome::timed_out]
        .Increment();
    if (give_up_letters(interrupted.error())) return reopen(interrupted.error());
    fail_or_reopen(interrupted.error());
  } catch (const kafka::KafkaFailure& refused) {
    if (give_up_letters(refused.error())) return reopen(refused.error());
    fail(refused);
  } catch (const Failure& other) {
    fail(other);
  }
}

void LaneWorker::after_commit() {
  Open& open = *open_;
  all_is_well();
  metrics_.transactions[serve::TransactionOutcome::committed].Increment();
  metrics_.commit_seconds->Observe(seconds_since(open.sent_at));
  open.input.letters_gone(open.sent_letter_bytes);
  count(open.sent_figures);
  StepCount steps = *open.state.steps_on_ledger;
  const Position position = open.committed = open.sent.position;
  if (NUSTREAM_PLANTED("public-steps-leave-out-rejects")) steps = StepCount{steps.value() - open.state.rejected};
  if (NUSTREAM_PLANTED("public-counter-counts-rejects")) steps = StepCount{steps.value() + open.state.rejected};
  host_.shown.update(serve::CommittedSpend::committed(open.state.ledger.entry(steps, position),
                                                      open.state.ledger.total(steps, position)));
  if (!open.published.empty()) {
    metrics_.release_latency_seconds->Observe(seconds_since(open.published_closed));
    host_.shown.update(serve::CommittedRelease::published(std::exchange(open.published, {})));
  }
  open.outbox_since = open.journal->owes_releases() ? std::optional(Clock::now()) : std::nullopt;
  pump();
}

void LaneWorker::count(const BatchFigures& figures) {
  metrics_.records->Increment(static_cast<double>(figures.records));
  for (const serve::RejectReason reason : serve::reject_reasons) {
    metrics_.records_rejected[reason].Increment(
        static_cast<double>(figures.rejected[static_cast<std::size_t>(reason)]));
  }
  metrics_.dead_letters_failed->Increment(static_cast<double>(figures.letters_lost));
  if (figures.seconds) metrics_.batch_seconds->Observe(*figures.seconds);
  if (figures.clipped_ratio) metrics_.gradients_clipped_ratio->Set(*figures.clipped_ratio);
}

/// Whether it was a dead letter that could not be written; then all further ones are written with less of them: their
/// reasons alone where they were too large, else not at all. For good, since each attempt that fails holds up
/// releases, and only where a record could not be used.
bool LaneWorker::give_up_letters(const kafka::Error& error) {
  using kafka::Cause;
  const std::string& topic = host_.setup.config.kafka.topics.dead_letters;
  if (topic.empty() || error.topic != topic || !open_ || open_->sent.dead_letters.empty()) return false;
  if (error.cause == Cause::fenced || error.cause == Cause::lost_membership) return false;
  const bool too_large = letters_ == Letters::whole && error.cause == Cause::record_too_large;
  letters_ = too_large ? Letters::reasons : Letters::none;
  fmt::print(stderr, "nustream: lane {}: topic '{}' took no dead letters ({}): until the next start {}\n",
             lane_.value(), topic, error.text,
             too_large ? "they hold their reason alone" : "they are counted, and not written");
  return true;
}

/// No record, and no state of the dead letters' topic, may stop a lane.
void LaneWorker::shorten_letters() {
  std::vector<journal::DeadLetter>& letters = open_->sent.dead_letters;
  if (letters_ == Letters::whole) return;
  if (letters_ == Letters::none) {
    open_->sent_figures.letters_lost += letters.size();
    letters.clear();
  }
  for (journal::DeadLetter& letter : letters) {
    letter.key.reset();
    letter.value.reset();
    letter.headers.clear();
  }
}

/// Nothing of the batch is readable as committed: the same bytes may be sent again.
void LaneWorker::after_abort(const kafka::Error& error) {
  if (!give_up_letters(error) && is_refusal(error)) return fail_or_reopen(error);
  if (gave_up()) return reopen(error);
  open_->resend = true;
  retry_later(&LaneWorker::send);
}

void LaneWorker::send_model() {
  open_->in_flight = true;
  const std::string model = *std::exchange(model_, std::nullopt);
  open_->journal->publish_model(model, [self = shared_from_this(), model](const std::exception_ptr& failure) {
    boost::asio::post(self->host_.loop, [self, failure, model] {
      self->open_->in_flight = false;
      if (self->ends_here()) return;
      if (!failure) {
        self->all_is_well();
        self->host_.shown.update(serve::CommittedModel::published(model));
        return self->pump();
      }
      if (!self->model_) self->model_ = model;  // once more, unless there is a later one
      try {
        std::rethrow_exception(failure);
      } catch (const kafka::TransactionAborted& aborted) {
        if (self->gave_up()) return self->reopen(aborted.error());
        self->open_->resend = true;
        self->retry_later(&LaneWorker::resend_model);
      } catch (const kafka::LaneInterrupted& interrupted) {
        self->fail_or_reopen(interrupted.error());
      } catch (const Failure& other) {
        self->fail(other);
      }
    });
  });
}

void LaneWorker::resend_model() {
  if (open_ == nullptr) return;
  open_->resend = false;
  pump();
}

/// Once, after a jittered pause that grows with the attempts.
void LaneWorker::retry_later(void (LaneWorker::*work)()) {
  const milliseconds pause = std::min(backoff_max, milliseconds(50) * (1 << std::min(attempts_, 7U)));
  ++attempts_;
  timer_.expires_after(jittered(pause, host_.jitter));
  timer_.async_wait([self = shared_from_this(), work](const boost::system::error_code& cancelled) {
    if (!cancelled && !self->dropped_) ((*self).*work)();
  });
}

/// What somebody has to mend ends the lane, and says so; all else is tried again.
void LaneWorker::fail_or_reopen(const kafka::Error& error) {
  if (!is_refusal(error)) return reopen(error);
  const config::Kafka& kafka = host_.setup.config.kafka;
  const std::string where = error.topic.empty() ? " to one of " + topics_of(kafka.topics) + ", or the offsets of '" +
                                                      kafka.topics.input + "' for group " + kafka.group
                                                : "";
  fail(kafka::KafkaFailure("commit lane " + std::to_string(lane_.value()) + where, error));
}

/// A new producer and the state read again tell where the lane is.
void LaneWorker::reopen(const kafka::Error& error) {
  if (phase_ == Phase::stopped) return lose_writer(error.text);
  dispose();
  end_.reset();  // what had been reached may not have been committed
  end_told_ = false;
  if (gave_up()) {
    return fail(Failure(Exit::unavailable, "lane " + std::to_string(lane_.value()) + ": no broker has answered for " +
                                               std::to_string(host_.setup.config.kafka.give_up.count() / 1000) +
                                               " s (" + error.text +
                                               "); everything committed is safe: start again when they are back"));
  }
  if (phase_ == Phase::draining) return drained();
  if (error.cause == kafka::Cause::fenced || error.cause == kafka::Cause::lost_membership) {
    phase_ = Phase::fenced;
    asked_ = false;
    set_state(serve::LaneState::waiting, error.text);
    return ask_the_group();
  }
  phase_ = Phase::waiting;
  set_state(serve::LaneState::restoring, error.text);
  retry_later(&LaneWorker::start_opening);
}

/// Perhaps somebody else has the lane, perhaps only the broker lost patience: the group knows, after a while. Asked
/// again until it answers, or takes the lane away.
void LaneWorker::ask_the_group() {
  timer_.expires_after(host_.fenced_pause + jittered(milliseconds(1000), host_.jitter));
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code& cancelled) {
    if (cancelled || self->phase_ != Phase::fenced) return;
    // librdkafka (2.0) ends the process by an assertion where this question waits for a coordinator in vain.
    if (!self->host_.brokers_are_silent()) {
      self->asked_ = true;
      self->host_.consumer.ask_membership(kafka::in(self->host_.fenced_pause));
    }
    self->ask_the_group();
  });
}

void LaneWorker::membership_confirmed() {
  // An answer to an older question, of another lane, would bring it back too early.
  if (phase_ != Phase::fenced || !asked_ || host_.consumer.assignment_lost()) return;
  timer_.cancel();
  start_opening();
}

}  // namespace nustream::attach
