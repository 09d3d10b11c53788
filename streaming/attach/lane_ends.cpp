// A lane in trouble, and a lane at its end: what is tried again, and what ends it.
#include <boost/asio/post.hpp>

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "attach/lane_log.h"
#include "attach/lane_worker.h"
#include "attach/open_lane_parts.h"
#include "log/log.h"

namespace nustream::attach {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

}  // namespace

// ---- what is tried again

/// True where nothing has worked for longer than kafka.give_up.
bool LaneWorker::gave_up() {
  return backoff_.gave_up(Clock::now(), host_.setup.config.kafka.give_up);
}

void LaneWorker::all_is_well() {
  backoff_.succeeded();
  host_.answered();
}

/// Calls `work` once, after a pause that grows with the attempts.
void LaneWorker::retry_later(void (LaneWorker::*work)()) {
  timer_.expires_after(backoff_.next_pause(host_.jitter));
  timer_.async_wait([self = shared_from_this(), work](const boost::system::error_code& cancelled) {
    if (!cancelled) ((*self).*work)();
  });
}

/// Ends the lane where somebody has to mend something first, such as a right or a setting, and says so. After any
/// other error the lane is opened again.
void LaneWorker::fail_or_reopen(const kafka::Error& error) {
  const auto judgement = judged(host_.setup.config.kafka, lane_, error);
  if (const auto* failure = std::get_if<Failure>(&judgement)) return fail(*failure);
  reopen(error);
}

/// Opens the lane again after an error whose outcome is unknown: a transaction may have been committed or not. A new
/// producer and the state read again tell where the lane is.
void LaneWorker::reopen(const kafka::Error& error) {
  // A stopped lane has kept its producer for the combined model alone. There is nothing of its own to open again for.
  if (stage_ == LaneStage::stopped) return lose_writer(error.text);
  // What was open is given up whatever follows: its producer is of no use any more.
  dispose();
  if (gave_up()) {
    return fail(Failure(Exit::unavailable, "lane " + std::to_string(lane_.value()) + ": no broker has answered for " +
                                               std::to_string(host_.setup.config.kafka.give_up.count() / 1000) +
                                               " s (" + error.text +
                                               "); everything committed is safe: start again when they are back"));
  }
  // Both causes say that somebody else may have the lane, so that the group is asked before it is taken again.
  const bool fenced = error.cause == kafka::Cause::fenced || error.cause == kafka::Cause::lost_membership;
  end_with(fenced ? LaneEvent::fenced_off : LaneEvent::interrupted);
  if (stage_ == LaneStage::fenced) {
    show(serve::LaneStatus::waiting, error.text);
    ask_the_group();
  } else if (stage_ == LaneStage::retrying) {
    show(serve::LaneStatus::restoring, error.text);
    retry_later(&LaneWorker::open_again);
  }
}

/// Asks the group whether the lane is still this process's. Another member may have the lane, or the broker may only
/// have lost patience; after two heartbeats the group knows which. The question is repeated until the group answers
/// or takes the lane away.
void LaneWorker::ask_the_group() {
  timer_.expires_after(host_.fenced_pause + jittered(milliseconds(1000), host_.jitter));
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code& cancelled) {
    if (cancelled || (self->stage_ != LaneStage::fenced && self->stage_ != LaneStage::asking)) return;
    // librdkafka (2.0) ends the process by an assertion where this question waits for a coordinator in vain.
    if (!self->host_.brokers_are_silent()) {
      static_cast<void>(self->enter(LaneEvent::asked));
      self->host_.consumer.ask_membership(kafka::in(self->host_.fenced_pause));
    }
    self->ask_the_group();
  });
}

void LaneWorker::membership_confirmed() {
  // An answer that came while the assignment is lost is about an assignment that is over.
  if (host_.consumer.assignment_lost() || !enter(LaneEvent::confirmed)) return;
  timer_.cancel();
  start_opening();
}

// ---- what ends a lane

/// Why the lane takes no further step, or nothing where it does. At the horizon, and at the stop offset, where fewer
/// records wait than fill a step, what was stepped is released first.
std::optional<LaneEnd> LaneWorker::reached_end() {
  if (open_->batch.limit_reached()) {
    // Where a budget ends the lane no extra release is made: under a larger budget it goes on as if nothing had
    // happened.
    if (open_->state.mechanism->horizon() == open_->state.lane.steps()) open_->batch.release_now("end");
    return LaneEnd{
        Exit::exhausted,
        "the horizon or the budget is reached; what was released stays; to go on, raise privacy.budget, or begin "
        "a new epoch with --new-epoch"};
  }
  // Whole minibatches that wait have to be stepped before the end is there.
  const bool stepped = open_->input.rows().count() < host_.setup.config.descent.minibatch;
  if (!open_->input.is_over() || !stepped) return std::nullopt;
  open_->batch.release_now("end");
  return LaneEnd{Exit::done, "the stop offset is reached"};
}

/// Notices that the lane has nothing left to do: first that there is no step to be taken, then that nothing is left
/// to be published.
void LaneWorker::settle() {
  if (open_ == nullptr) return;
  if (takes_steps(stage_)) {
    if (std::optional<LaneEnd> end = reached_end()) {
      end_ = std::move(end);
      static_cast<void>(enter(LaneEvent::end_reached));
      // Nothing behind the end is wanted any more.
      static_cast<void>(host_.consumer.pause(partition()));
      if (!commit_if_due()) return;
    }
  }
  const LaneTransactions& transactions = open_->transactions;
  if (transactions.is_free() && !open_->owes_anything()) {
    end_with(LaneEvent::settled);
  }
}

void LaneWorker::drain(const std::string& tag) {
  const LaneStage before = stage_;
  end_with(LaneEvent::drain);
  // The event led elsewhere: the lane was closed or is leaving at once, and has nothing to commit.
  if (stage_ != LaneStage::draining) return;
  // A lane that flushes is committing already. Now that it is handed over it leaves, so that the failure for which it
  // was about to stop is nobody's any more.
  if (before == LaneStage::flushing) {
    failure_.reset();
    return;
  }
  if (takes_steps(before)) {
    show(serve::LaneStatus::draining);
    if (!tag.empty()) open_->batch.release_now(tag);
  }
  pump();
}

void LaneWorker::drop() {
  end_with(LaneEvent::drop);
}

void LaneWorker::fail(const Failure& failure) {
  // A stopped lane may still hold the producer of the combined model.
  if (stage_ == LaneStage::stopped) lose_writer(failure.what());
  if (next(stage_, LaneEvent::failed) == stage_) return;  // it stops or goes already: the first reason is kept
  if (!failure_) failure_ = failure;
  end_with(LaneEvent::failed);
}

/// Stops a lane whose input cannot be read any more. Records that were read before are committed, and their releases
/// published, before the lane stops: a lane that stops leaves nothing owed.
void LaneWorker::fail_to_read(const Failure& failure) {
  if (next(stage_, LaneEvent::unreadable) == stage_) return;
  failure_ = failure;
  end_with(LaneEvent::unreadable);
  if (stage_ != LaneStage::flushing) return;
  static_cast<void>(host_.consumer.pause(partition()));
  show(serve::LaneStatus::draining);
  pump();
}

/// Gives up the producer of a stopped lane, which it had kept only to write the combined model.
void LaneWorker::lose_writer(const std::string& reason) {
  if (!open_ || open_->transactions.is_under_way()) return;
  dispose();
  log::warning(
      "model_writer_lost",
      fmt::format("lane {}: the combined model is written no more until the next start: {}", lane_.value(), reason),
      {{"lane", std::uint64_t{lane_.value()}}});
}

/// Moves a lane that leaves or stops to its last stage if it is quiet: it is not being opened, and has no transaction
/// under way. Returns whether it was. `opening`: the lane was being opened when `event` came.
bool LaneWorker::goes_quiet(LaneEvent event, bool opening) {
  if (stage_ == LaneStage::leaving && event == LaneEvent::settled) say_drained(lane_);
  if (stage_ == LaneStage::leaving && (event == LaneEvent::drain || event == LaneEvent::drop)) {
    // An opening under way is told to end, and nothing is tried again.
    cancelled_->store(true);
    timer_.cancel();
  }
  const bool busy = opening || (open_ && open_->transactions.is_under_way());
  return !busy && enter(LaneEvent::quiet);
}

/// Enters an event that may end the lane, and does what its last stage asks for.
void LaneWorker::end_with(LaneEvent event) {
  const bool opening = machine::taking_over.contains(stage_);
  if (!enter(event)) return;
  // A lane that is still busy waits for LaneEvent::quiet, which the end of the transaction or opening brings.
  if ((stage_ == LaneStage::leaving || stage_ == LaneStage::stopping) && !goes_quiet(event, opening)) return;
  if (stage_ == LaneStage::gone) return go();
  if (stage_ == LaneStage::stopped) return stop(event == LaneEvent::settled);
  if (stage_ == LaneStage::finished) {
    show(serve::LaneStatus::finished, end_->reason);
    tally_.end();
    listener_.stopped(lane_, *end_);
  }
}

/// Stops the lane until the process is started again. With `keeps_writer`, lane 0 keeps its producer where there is a
/// combined model to be written.
void LaneWorker::stop(bool keeps_writer) {
  const bool writes_model = lane_ == LaneId{0} && !host_.setup.config.kafka.topics.model.empty();
  if (!keeps_writer || !writes_model) dispose();
  timer_.cancel();  // nothing that was to be tried again brings it back
  read_timer_.cancel();
  static_cast<void>(host_.consumer.pause(partition()));
  show(serve::LaneStatus::failed, failure_->what());
  tally_.end();
  listener_.stopped(lane_, {failure_->code(), failure_->what()});
}

std::string LaneWorker::where() const {
  return open_ ? fmt::format("offset {}", offset_of(open_->state.lane.position()).value()) : "its offset";
}

/// Takes everything of the lane out of this process, and says that it is gone.
void LaneWorker::go() {
  timer_.cancel();
  due_timer_.cancel();
  read_timer_.cancel();
  tally_.end();
  dispose();
  host_.shown.close_lane(lane_);
  host_.operators.close_lane(lane_);
  listener_.gone(lane_);
}

/// Destroys what is open, on a thread that may wait: a Kafka client takes its time to close.
void LaneWorker::dispose() {
  if (!open_) return;
  // The posted work alone holds it, so that it is destroyed on that thread.
  std::shared_ptr<Open> leaving(std::move(open_));
  host_.on_spare_thread([leaving] {});
  // Records that waited here are gone with the lane, so that events that were held for them may be read.
  host_.look_for_room();
}

}  // namespace nustream::attach
