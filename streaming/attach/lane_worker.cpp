#include "attach/lane_worker.h"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

#include "attach/open_lane_parts.h"
#include "attach/reject_reason.h"
#include "engine/noise_ahead.h"
#include "kafka/interruption.h"
#include "serve/committed.h"

namespace nustream::attach {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds start_again_after{200};
constexpr std::chrono::milliseconds partition_looks_every{5'000};

kafka::Offset offset_of(Position position) {
  return kafka::Offset{static_cast<std::int64_t>(position.value())};
}

}  // namespace

LaneWorker::LaneWorker(Host& host, LaneId lane, std::uint32_t partitions, Listener listener)
    : host_(host),
      lane_(lane),
      partitions_(partitions),
      listener_(std::move(listener)),
      metrics_(host.operators.open_lane(lane)),
      cancelled_(std::make_shared<std::atomic<bool>>(false)),
      timer_(host.loop),
      due_timer_(host.loop),
      read_timer_(host.loop) {}

LaneWorker::~LaneWorker() = default;

void LaneWorker::set_state(serve::LaneState state, std::string reason) {
  host_.operators.set_state(lane_, state, std::move(reason));
}

/// True where nothing has worked for too long.
bool LaneWorker::gave_up() {
  if (!trouble_since_) trouble_since_ = Clock::now();
  return Clock::now() - *trouble_since_ > host_.setup.config.kafka.give_up;
}

void LaneWorker::all_is_well() {
  trouble_since_.reset();
  attempts_ = 0;
}

kafka::PartitionIndex LaneWorker::partition() const {
  return kafka::PartitionIndex{static_cast<std::int32_t>(lane_.value())};
}

// ---- taking the lane over

void LaneWorker::open() {
  NUSTREAM_REQUIRE(phase_ == Phase::idle, "a lane is opened once");
  start_opening();
}

void LaneWorker::start_opening() {
  phase_ = Phase::opening;
  if (!lacks_partition_) set_state(serve::LaneState::restoring);
  auto order = std::make_shared<LaneOrder>();
  order->setup = &host_.setup;
  order->mechanism = std::make_unique<const config::Mechanism>(host_.mechanism);
  order->lane = lane_;
  order->partitions = partitions_;
  if (!host_.opened.contains(lane_)) order->renewal = host_.renewal;
  order->member = std::make_shared<const kafka::GroupMetadata>(host_.consumer.group_metadata());
  order->post = host_.on_commit_thread;
  order->cancelled = cancelled_;
  order->out_of_time = &host_.out_of_time;
  host_.on_spare_thread([self = shared_from_this(), order] {
    std::exception_ptr failure;
    auto lane = std::make_shared<std::unique_ptr<OpenedLane>>();
    try {
      *lane = std::make_unique<OpenedLane>(open_lane(std::move(*order)));
    } catch (...) {
      failure = std::current_exception();
    }
    boost::asio::post(self->host_.loop, [self, failure, lane] { self->opened(failure, std::move(*lane)); });
  });
}

void LaneWorker::opened(const std::exception_ptr& failure, std::unique_ptr<OpenedLane> lane) {
  const bool unwanted = dropped_ || phase_ != Phase::opening;
  if (unwanted) {
    if (lane) {
      host_.on_spare_thread([journal = std::shared_ptr<kafka::KafkaJournal>(std::move(lane->journal))] {});
    }
    if (dropped_) go();
    return;
  }
  phase_ = Phase::waiting;
  if (!failure) return begin_running(std::move(lane));
  try {
    std::rethrow_exception(failure);
  } catch (const LaneWithoutPartition& lacking) {
    wait_for_partition(lacking.reason());
  } catch (const kafka::LaneInterrupted& interrupted) {
    fail_or_reopen(interrupted.error());
  } catch (const kafka::KafkaFailure& kafka_failure) {
    if (kafka_failure.error().remedy == kafka::Remedy::none) return fail(kafka_failure);
    reopen(kafka_failure.error());
  } catch (const Failure& other) {
    fail(other);
  } catch (const std::exception& other) {
    fail(Failure(Exit::internal, other.what()));
  }
}

/// Others go on meanwhile; somebody may add partitions at any time.
void LaneWorker::wait_for_partition(const std::string& reason) {
  set_state(serve::LaneState::waiting, reason);
  timer_.expires_after(partition_looks_every);
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code& cancelled) {
    if (!cancelled && !self->dropped_) self->start_opening();
  });
  if (!std::exchange(lacks_partition_, true)) listener_.lacks_partition(lane_, reason);
}

void LaneWorker::begin_running(std::unique_ptr<OpenedLane> lane) {
  if (std::exchange(lacks_partition_, false)) listener_.lacks_partition(lane_, {});
  const auto wake = [weak = weak_from_this(), &loop = host_.loop] {
    boost::asio::post(loop, [weak] {
      if (const auto self = weak.lock()) self->pump();
    });
  };
  std::unique_ptr<engine::NoiseSupply> noise = std::make_unique<engine::NoiseAhead>(
      *lane->state.mechanism, lane->noise, StepIndex{lane->state.lane.steps().value()}, &host_.locked,
      host_.on_noise_thread, wake);
  if (host_.wrap_noise) noise = host_.wrap_noise(std::move(noise));
  all_is_well();
  host_.opened.insert(lane_);
  show_restored(*lane);
  open_ = std::make_unique<Open>(host_, std::move(*lane), std::move(noise));
  phase_ = Phase::running;
  set_state(serve::LaneState::running);
  start_reading();
  if (phase_ == Phase::running) pump();
}

void LaneWorker::show_restored(const OpenedLane& lane) {
  const config::Mechanism& mechanism = *lane.state.mechanism;
  const config::Config& config = host_.setup.config;
  const StepCount steps = lane.state.lane.steps();
  const Position position = lane.state.lane.position();
  host_.shown.open_lane({{config.stream, lane_, lane.state.ledger.identity().epoch, config.privacy.delta,
                          host_.setup.digest, host_.setup.keys.is_private()},
                         mechanism.spend.limit(),
                         mechanism.main().sigma,
                         mechanism.main().sensitivity,
                         config.descent.schedule,
                         config.privacy.budget});
  host_.shown.update(serve::CommittedSpend::committed(lane.state.ledger.entry(steps, position),
                                                      lane.state.ledger.total(steps, position)));
  if (lane.last_published) host_.shown.update(serve::CommittedRelease::published(*lane.last_published));
}

void LaneWorker::start_reading() {
  if (phase_ != Phase::running || open_->input.is_over()) return;
  const auto error = host_.consumer.start(partition(), offset_of(open_->state.lane.position()));
  if (!error) {
    open_->reading = true;
    return;
  }
  if (error->cause == kafka::Cause::lost_membership) return;  // it is taken away in a moment
  if (error->remedy != kafka::Remedy::call_again) {
    return fail(kafka::KafkaFailure("read partition " + std::to_string(lane_.value()), *error));
  }
  read_timer_.expires_after(start_again_after);
  read_timer_.async_wait([self = shared_from_this()](const boost::system::error_code& cancelled) {
    if (!cancelled && !self->dropped_) self->start_reading();
  });
}

// ---- records

/// Records that were read before the lane was opened anew are behind its position or beyond a gap: none of them
/// counts until the partition is read from the position on.
bool LaneWorker::is_reading() const {
  return phase_ == Phase::running && !end_ && open_->reading;
}

void LaneWorker::take(std::span<const kafka::Message> messages) {
  if (!is_reading()) return;
  open_->input.take(messages, open_->state.seen);
  pump();
}

void LaneWorker::end_of_partition(std::uint64_t offset) {
  if (!is_reading()) return;
  open_->input.end_at(offset);
  pump();
}

void LaneWorker::tick() {
  if (open_ == nullptr) return;
  if (const auto end = host_.consumer.known_end(partition())) {
    const std::int64_t lag = end->value() - offset_of(open_->state.lane.position()).value();
    metrics_.consumer_lag_records->Set(static_cast<double>(std::max<std::int64_t>(lag, 0)));
  }
  if (const auto* ahead = dynamic_cast<const engine::NoiseAhead*>(open_->noise.get())) {
    metrics_.noise_ahead_steps->Set(static_cast<double>(ahead->ready()));
  }
}

/// Steps what is there, batch after batch, as far as commits let it.
void LaneWorker::pump() {
  if (open_ == nullptr) return;
  while (true) {
    if (phase_ == Phase::running && !end_) step_batch();
    const bool full = batch_room() == 0;
    commit_if_due();
    if (!full || batch_room() == 0) break;
  }
  regulate_input();
  schedule();
  settle();
  host_.look_for_room();
}

/// Records that the open batch can still take, in whole minibatches: by their number, and by the releases that they
/// may bring.
std::size_t LaneWorker::batch_room() const {
  const config::Config& config = host_.setup.config;
  if (open_->batch_records >= config.state.commit_records ||
      open_->output.outbox.size() >= *config.outbox_bytes_max) {
    return 0;
  }
  const std::uint64_t by_count = config.state.commit_records - open_->batch_records;
  const std::size_t bytes_left = *config.outbox_bytes_max - open_->output.outbox.size();
  const std::uint64_t releases = bytes_left / host_.setup.release_bytes_max;
  if (releases == 0) return 0;
  const std::uint64_t records_a_release = config.descent.release_every * config.descent.minibatch;
  const std::uint64_t by_bytes = records_a_release > by_count / releases ? by_count : releases * records_a_release;
  const std::uint64_t room = std::min(by_count, by_bytes);
  return static_cast<std::size_t>(room - room % config.descent.minibatch);
}

void LaneWorker::step_batch() {
  record::RowBatch& rows = open_->input.rows();
  while (!open_->limit_reached) {
    const std::size_t room = batch_room();
    if (room == 0) break;
    if (!has_uncommitted()) open_->batch_opened = Clock::now();
    const engine::Progress progress = open_->stepper.step(rows, room, open_->output);
    open_->batch_records += progress.records;
    open_->limit_reached = progress.limit_reached;
    collect_rejects();
    if (progress.records == 0 || progress.noise_pending) break;
  }
}

/// Of the records that were stepped: into the figures of the open batch, and its dead letters.
void LaneWorker::collect_rejects() {
  std::vector<record::Reject>& rejects = open_->output.rejects;
  open_->state.rejected += rejects.size();
  for (const record::Reject& reject : rejects) {
    ++open_->figures.rejected[static_cast<std::size_t>(reject_reason(reject.reason))];
  }
  std::vector<journal::DeadLetter> letters = open_->input.next_letters(rejects.size());
  if (!host_.setup.config.kafka.topics.dead_letters.empty()) {
    open_->figures.letters_lost += rejects.size() - letters.size();
  }
  std::move(letters.begin(), letters.end(), std::back_inserter(open_->letters));
  rejects.clear();
}

bool LaneWorker::is_full() const {
  return open_ && is_reading() && !dropped_ && !open_->paused && open_->input.is_full();
}

void LaneWorker::pause_if_full() {
  if (is_full()) open_->paused = !host_.consumer.pause(partition());
}

void LaneWorker::regulate_input() {
  if (end_ || phase_ != Phase::running) return;
  // Less than a minibatch takes no step: what waits would wait for ever.
  const bool starved = open_->input.rows().count() < host_.setup.config.descent.minibatch;
  if (open_->paused && (open_->input.is_half_empty() || starved)) {
    open_->paused = host_.consumer.resume(partition()).has_value();
  }
}

/// Wakes up when the open batch, or a committed outbox, has waited for as long as it may.
void LaneWorker::schedule() {
  const config::Config& config = host_.setup.config;
  due_timer_.cancel();
  if (open_->in_flight || open_->resend) return;  // their end looks again
  std::optional<Clock::time_point> due;
  const auto by = [&](Clock::time_point time) { due = due ? std::min(*due, time) : time; };
  if (has_uncommitted()) {
    by(open_->batch_opened +
       std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(config.state.commit_seconds)));
  }
  if (open_->journal->owes_releases() && open_->outbox_since) by(*open_->outbox_since + config.release_linger);
  if (!due) return;
  due_timer_.expires_at(*due);
  due_timer_.async_wait([self = shared_from_this()](const boost::system::error_code& cancelled) {
    if (!cancelled) self->pump();
  });
}

// ---- ends

/// Notices that there is nothing left to do, once everything is published.
void LaneWorker::settle() {
  if (open_ == nullptr) return;
  const bool stepped = open_->input.rows().count() < host_.setup.config.descent.minibatch;
  if (!end_ && phase_ == Phase::running) {
    if (open_->limit_reached) {
      end_ = LaneEnd{Exit::exhausted, "the horizon or the budget is reached; the last release stays"};
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
  if (phase_ == Phase::draining) return go();
  if (end_ && !end_told_) {
    end_told_ = true;
    set_state(serve::LaneState::finished, end_->reason);
    listener_.stopped(lane_, *end_);
  }
}

void LaneWorker::drain(const std::string& tag) {
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
  if (phase_ == Phase::gone || phase_ == Phase::stopped) return;
  if (open_ && open_->in_flight) {
    failure_ = failure;  // when what is under way has ended
    return;
  }
  dispose();
  if (phase_ == Phase::draining) return go();
  phase_ = Phase::stopped;
  static_cast<void>(host_.consumer.pause(partition()));
  set_state(serve::LaneState::failed, failure.what());
  listener_.stopped(lane_, {failure.code(), failure.what()});
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

void LaneWorker::publish_model(std::string model) {
  model_ = std::move(model);
  pump();
}

}  // namespace nustream::attach
