// How a lane ends: at what it was to reach, at a failure, or handed over; and what it leaves behind.
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "attach/lane_worker.h"
#include "attach/open_lane_parts.h"

namespace nustream::attach {

/// Notices that there is nothing left to do, once everything is published.
void LaneWorker::settle() {
  if (open_ == nullptr) return;
  const bool stepped = open_->input.rows().count() < host_.setup.config.descent.minibatch;
  if (!end_ && phase_ == Phase::running) {
    if (open_->limit_reached) {
      end_ = LaneEnd{Exit::exhausted, "the horizon or the budget is reached; what was released stays"};
    } else if (open_->input.is_over() && stepped) {
      open_->stepper.release_now("end", open_->output);
      end_ = LaneEnd{Exit::done, "the stop offset is reached"};
    }
    if (end_) {
      static_cast<void>(host_.consumer.pause(partition()));
      commit_if_due();
    }
  }
  const bool clean = !open_->in_flight && !open_->resend && !has_uncommitted() && !open_->journal->owes_releases();
  if (!clean) return;
  if (phase_ == Phase::draining) return drained();
  if (end_ && !end_told_) {
    end_told_ = true;
    set_state(serve::LaneState::finished, end_->reason);
    listener_.stopped(lane_, *end_);
  }
}

void LaneWorker::drain(const std::string& tag) {
  // Already under way: then it goes, and stops no more.
  if (phase_ == Phase::draining && std::exchange(unreadable_, std::nullopt)) return;
  if (phase_ != Phase::running) return drop();
  phase_ = Phase::draining;
  if (!end_) {
    set_state(serve::LaneState::draining);
    if (!tag.empty()) open_->stepper.release_now(tag, open_->output);
  }
  pump();
}

void LaneWorker::drop() {
  if (phase_ == Phase::gone) return;
  dropped_ = true;
  cancelled_->store(true);
  timer_.cancel();
  if (!is_busy()) go();
}

void LaneWorker::fail(const Failure& failure) {
  if (phase_ == Phase::gone) return;
  if (phase_ == Phase::stopped) return lose_writer(failure.what());
  if (open_ && open_->in_flight) {
    failure_ = failure;  // when what is under way has ended
    return;
  }
  dispose();
  if (phase_ == Phase::draining) return drained();
  stop(failure);
}

/// Of the combined model, which is all that a stopped lane is there for.
void LaneWorker::lose_writer(const std::string& reason) {
  if (!open_ || open_->in_flight) return;
  dispose();
  fmt::print(stderr, "nustream: lane {}: the combined model is written no more until the next start: {}\n",
             lane_.value(), reason);
}

/// What has been read before is committed, and what is committed is published: a lane that stops leaves nothing owed.
void LaneWorker::fail_to_read(const Failure& failure) {
  if (phase_ == Phase::stopped) return;  // and may be writing the combined model
  // It reads no more anyway, and publishes what it has.
  if (open_ && (phase_ == Phase::draining || end_)) return;
  if (phase_ != Phase::running) return fail(failure);
  unreadable_ = failure;
  static_cast<void>(host_.consumer.pause(partition()));
  drain("");
}

void LaneWorker::drained() {
  if (!unreadable_) return go();
  stop(*std::exchange(unreadable_, std::nullopt));
}

/// For good, until the next start. Its producer stays where somebody has to write the combined model.
void LaneWorker::stop(const Failure& failure) {
  if (lane_ != LaneId{0} || host_.setup.config.kafka.topics.model.empty()) dispose();
  phase_ = Phase::stopped;
  timer_.cancel();  // nothing that was to be tried again brings it back
  read_timer_.cancel();
  static_cast<void>(host_.consumer.pause(partition()));
  set_state(serve::LaneState::failed, failure.what());
  listener_.stopped(lane_, {failure.code(), failure.what()});
}

std::string LaneWorker::where() const {
  return open_ ? fmt::format("offset {}", offset_of(open_->state.lane.position()).value()) : "its offset";
}

void LaneWorker::go() {
  if (phase_ == Phase::gone) return;
  phase_ = Phase::gone;
  timer_.cancel();
  due_timer_.cancel();
  read_timer_.cancel();
  dispose();
  host_.shown.close_lane(lane_);
  host_.operators.close_lane(lane_);
  listener_.gone(lane_);
}

/// Clients take their time to go: on a thread that may wait.
void LaneWorker::dispose() {
  if (!open_) return;
  std::shared_ptr<Open> leaving(std::move(open_));
  host_.on_spare_thread([leaving] {});
  host_.look_for_room();
}

}  // namespace nustream::attach
