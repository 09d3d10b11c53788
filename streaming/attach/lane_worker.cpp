#include "attach/lane_worker.h"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <random>
#include <utility>

#include "attach/reject_reason.h"
#include "engine/noise_ahead.h"
#include "kafka/interruption.h"
#include "publish/original_units.h"
#include "publish/release_json.h"
#include "serve/committed.h"

namespace nustream::attach {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds backoff_max{5'000};
// Two heartbeats of the group: until then a fenced lane does not come back.
constexpr milliseconds fenced_pause{6'000};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

kafka::Offset offset_of(Position position) {
  return kafka::Offset{static_cast<std::int64_t>(position.value())};
}

/// Half to all of `pause`, so that lanes in the same trouble do not come back all at once.
milliseconds jittered(milliseconds pause) {
  static std::minstd_rand random(std::random_device{}());
  return milliseconds(std::uniform_int_distribution<std::int64_t>(pause.count() / 2, pause.count())(random));
}

/// Drops what the letters hold of their records; false where they held nothing.
bool shorten(std::vector<journal::DeadLetter>& letters) {
  bool held = false;
  for (journal::DeadLetter& letter : letters) {
    held = held || letter.key || letter.value || !letter.headers.empty();
    letter.key.reset();
    letter.value.reset();
    letter.headers.clear();
  }
  return held;
}

}  // namespace

/// Everything that goes when the lane is opened anew.
struct LaneWorker::Open {
  Open(Host& host, OpenedLane opened, std::unique_ptr<engine::NoiseSupply> supply)
      : journal(std::move(opened.journal)),
        state(std::move(opened.state)),
        noise(std::move(supply)),
        encoder({host.setup.config.stream, state.id(), state.ledger.identity().epoch, host.setup.config.privacy.delta,
                 host.setup.digest, host.setup.keys.is_private()},
                publish::OriginalUnits(host.setup.config.schema, host.setup.config.descent.loss.kind),
                state.mechanism->spend),
        stepper(state.lane, *noise, encoder, host.setup.config.descent.minibatch,
                state.ledger.limit(host.setup.config.privacy.budget, state.lane.position()), opened.released.value()),
        input(host.setup.config, host.setup.keys, state.lane.position(), state.stop),
        batch_opened(Clock::now()) {}

  std::unique_ptr<kafka::KafkaJournal> journal;
  LaneState state;
  std::unique_ptr<engine::NoiseSupply> noise;
  publish::ReleaseEncoder encoder;
  engine::Stepper stepper;
  LaneInput input;

  engine::Output output;  // of the open batch
  std::vector<journal::DeadLetter> letters;
  std::uint64_t batch_records = 0;
  Clock::time_point batch_opened;
  std::uint64_t clipped_before = 0;
  bool limit_reached = false;
  bool paused = false;

  bool in_flight = false;  // a transaction is under way
  bool resend = false;     // an aborted batch waits to be sent again: no other may go before it
  journal::Batch sent{{}, Position{0}, {}, {}, {}, {}};
  std::string published;  // outbox of the batch before: public with the commit
  std::uint64_t sent_records = 0;
  Clock::time_point sent_at;
  std::optional<Clock::time_point> outbox_since;  // when the committed outbox began to wait
  Clock::time_point outbox_closed;                // when its batch closed
  Clock::time_point published_closed;
  std::optional<std::string> model;  // waits for its turn
};

LaneWorker::LaneWorker(Host& host, LaneId lane, std::uint32_t partitions, Listener listener)
    : host_(host),
      lane_(lane),
      partitions_(partitions),
      listener_(std::move(listener)),
      metrics_(host.operators.open_lane(lane)),
      cancelled_(std::make_shared<std::atomic<bool>>(false)),
      timer_(host.loop),
      due_timer_(host.loop),
      last_success_(Clock::now()) {}

LaneWorker::~LaneWorker() = default;

void LaneWorker::set_state(serve::LaneState state, std::string reason) {
  host_.operators.set_state(lane_, state, std::move(reason));
}

bool LaneWorker::gave_up() const {
  return Clock::now() - last_success_ > host_.setup.config.kafka.give_up;
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
  set_state(serve::LaneState::restoring);
  auto order = std::make_shared<LaneOrder>();
  order->setup = &host_.setup;
  order->mechanism = std::make_unique<const config::Mechanism>(host_.mechanism);
  order->lane = lane_;
  order->partitions = partitions_;
  order->renewal = host_.renewal;
  order->member = std::make_shared<const kafka::GroupMetadata>(host_.consumer.group_metadata());
  order->post = host_.on_commit_thread;
  order->cancelled = cancelled_;
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
  phase_ = Phase::waiting;
  if (dropped_) {
    if (lane) {
      noise::wipe(lane->noise.chain_key);
      host_.on_spare_thread([journal = std::shared_ptr<kafka::KafkaJournal>(std::move(lane->journal))] {});
    }
    return go();
  }
  if (!failure) return begin_running(std::move(lane));
  try {
    std::rethrow_exception(failure);
  } catch (const kafka::LaneInterrupted& interrupted) {
    reopen(interrupted.error());
  } catch (const kafka::KafkaFailure& kafka_failure) {
    if (kafka_failure.error().remedy == kafka::Remedy::none) return fail(kafka_failure);
    reopen(kafka_failure.error());
  } catch (const Failure& other) {
    fail(other);
  } catch (const std::exception& other) {
    fail(Failure(Exit::internal, other.what()));
  }
}

void LaneWorker::begin_running(std::unique_ptr<OpenedLane> lane) {
  const auto wake = [weak = weak_from_this(), &loop = host_.loop] {
    boost::asio::post(loop, [weak] {
      if (const auto self = weak.lock()) self->pump();
    });
  };
  std::unique_ptr<engine::NoiseSupply> noise = std::make_unique<engine::NoiseAhead>(
      *lane->state.mechanism, lane->noise, StepIndex{lane->state.lane.steps().value()}, &host_.locked,
      host_.on_noise_thread, wake);
  noise::wipe(lane->noise.chain_key);
  if (host_.wrap_noise) noise = host_.wrap_noise(std::move(noise));
  last_success_ = Clock::now();
  attempts_ = 0;
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
                         mechanism.sigma,
                         mechanism.sensitivity,
                         config.descent.schedule,
                         config.privacy.budget});
  host_.shown.update(serve::CommittedSpend::committed(lane.state.ledger.entry(steps, position),
                                                      lane.state.ledger.total(steps, position)));
  if (lane.last_published) host_.shown.update(serve::CommittedRelease::published(*lane.last_published));
}

void LaneWorker::start_reading() {
  if (phase_ != Phase::running || open_->input.is_over()) return;
  const auto error = host_.consumer.start(partition(), offset_of(open_->state.lane.position()));
  if (!error) return;
  if (error->remedy != kafka::Remedy::call_again) {
    return fail(kafka::KafkaFailure("read partition " + std::to_string(lane_.value()), *error));
  }
  retry_later(&LaneWorker::start_reading);
}

// ---- records

void LaneWorker::take(std::span<const kafka::Message> messages) {
  if (phase_ != Phase::running || end_) return;
  const std::size_t rejects_before = open_->input.rows().rejects.size();
  open_->input.take(messages, open_->state.seen);
  const auto& rejects = open_->input.rows().rejects;
  for (std::size_t i = rejects_before; i < rejects.size(); ++i) {
    metrics_.records_rejected[reject_reason(rejects[i].reason)].Increment();
  }
  pump();
}

void LaneWorker::end_of_partition(std::uint64_t offset) {
  if (phase_ != Phase::running || end_) return;
  open_->input.end_at(offset);
  pump();
}

void LaneWorker::tick() {
  if (open_ == nullptr) return;
  if (const auto* ahead = dynamic_cast<const engine::NoiseAhead*>(open_->noise.get())) {
    metrics_.noise_ahead_steps->Set(static_cast<double>(ahead->ready()));
  }
}

/// Steps what is there, batch after batch, as far as commits let it.
void LaneWorker::pump() {
  if (open_ == nullptr) return;
  const std::uint64_t batch_max = host_.setup.config.state.commit_records;
  while (true) {
    if (phase_ == Phase::running && !end_) step_batch();
    const bool full = open_->batch_records >= batch_max;
    commit_if_due();
    if (!full || open_->batch_records >= batch_max) break;
  }
  regulate_input();
  schedule();
  settle();
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

void LaneWorker::step_batch() {
  const std::uint64_t batch_max = host_.setup.config.state.commit_records;
  record::RowBatch& rows = open_->input.rows();
  while (!open_->limit_reached && open_->batch_records < batch_max) {
    if (!has_uncommitted()) open_->batch_opened = Clock::now();
    const engine::Progress progress =
        open_->stepper.step(rows, static_cast<std::size_t>(batch_max - open_->batch_records), open_->output);
    open_->batch_records += progress.records;
    open_->limit_reached = progress.limit_reached;
    open_->state.rejected += open_->output.rejects.size();
    for (journal::DeadLetter& letter : open_->input.letters_of(std::exchange(open_->output.rejects, {}))) {
      open_->letters.push_back(std::move(letter));
    }
    if (progress.records == 0 || progress.noise_pending) break;
  }
}

void LaneWorker::regulate_input() {
  if (end_ || phase_ != Phase::running) return;
  if (!open_->paused && open_->input.is_full()) {
    open_->paused = !host_.consumer.pause(partition());
  } else if (open_->paused && open_->input.is_half_empty()) {
    open_->paused = host_.consumer.resume(partition()).has_value();
  }
}

// ---- transactions

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
  return open_->batch_records >= config.state.commit_records || open_->limit_reached ||
         open_->output.outbox.size() >= *config.outbox_bytes_max ||
         now - open_->batch_opened >= std::chrono::duration<double>(config.state.commit_seconds);
}

void LaneWorker::commit_if_due() {
  if (open_->in_flight || open_->resend) return;
  if (is_due(Clock::now())) {
    commit();
  } else if (open_->model) {
    send_model();
  }
}

void LaneWorker::commit() {
  Open& open = *open_;
  open.published = open.journal->outbox();
  open.published_closed = std::exchange(open.outbox_closed, Clock::now());
  if (open.batch_records > 0) {
    const std::uint64_t clipped = open.state.lane.clipped();
    metrics_.batch_seconds->Observe(seconds_since(open.batch_opened));
    metrics_.gradients_clipped_ratio->Set(static_cast<double>(clipped - open.clipped_before) /
                                          static_cast<double>(open.batch_records));
    open.clipped_before = clipped;
  }
  open.sent_records = std::exchange(open.batch_records, 0);
  open.sent = seal_batch(host_.setup, open.state,
                         {open.noise->checkpoint(), std::exchange(open.output.outbox, {}),
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
  open_->journal->use_member(std::make_shared<const kafka::GroupMetadata>(host_.consumer.group_metadata()));
  open_->journal->commit(open_->sent, [self = shared_from_this()](const std::exception_ptr& failure) {
    boost::asio::post(self->host_.loop, [self, failure] { self->committed(failure); });
  });
}

void LaneWorker::committed(const std::exception_ptr& failure) {
  open_->in_flight = false;
  if (dropped_) return go();
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
    reopen(interrupted.error());
  } catch (const Failure& other) {
    fail(other);
  }
}

void LaneWorker::after_commit() {
  Open& open = *open_;
  attempts_ = 0;
  last_success_ = Clock::now();
  metrics_.transactions[serve::TransactionOutcome::committed].Increment();
  metrics_.commit_seconds->Observe(seconds_since(open.sent_at));
  metrics_.records->Increment(static_cast<double>(open.sent_records));
  const StepCount steps = *open.state.steps_on_ledger;
  const Position position = open.sent.position;
  host_.shown.update(serve::CommittedSpend::committed(open.state.ledger.entry(steps, position),
                                                      open.state.ledger.total(steps, position)));
  if (!open.published.empty()) {
    metrics_.release_latency_seconds->Observe(seconds_since(open.published_closed));
    host_.shown.update(serve::CommittedRelease::published(std::exchange(open.published, {})));
  }
  open.outbox_since = open.journal->owes_releases() ? std::optional(Clock::now()) : std::nullopt;
  pump();
}

/// Nothing of the batch is readable as committed: the same bytes may be sent again. Only its dead letters are given
/// up where they are what cannot be written: no record, and no state of their topic, may stop a lane.
void LaneWorker::after_abort(const kafka::Error& error) {
  std::vector<journal::DeadLetter>& letters = open_->sent.dead_letters;
  const std::string& letters_topic = host_.setup.config.kafka.topics.dead_letters;
  const bool by_letters = !letters_topic.empty() && error.topic == letters_topic && !letters.empty();
  if (by_letters && !shorten(letters)) {
    metrics_.dead_letters_failed->Increment(static_cast<double>(letters.size()));
    letters.clear();
  }
  const bool refused = error.cause == kafka::Cause::authorization || error.cause == kafka::Cause::authentication ||
                       error.cause == kafka::Cause::record_too_large;
  if (refused && !by_letters) {
    return fail(kafka::KafkaFailure("commit lane " + std::to_string(lane_.value()), error));
  }
  if (gave_up()) return reopen(error);
  open_->resend = true;
  retry_later(&LaneWorker::send);
}

void LaneWorker::send_model() {
  open_->in_flight = true;
  const std::string model = *std::exchange(open_->model, std::nullopt);
  open_->journal->publish_model(model, [self = shared_from_this(), model](const std::exception_ptr& failure) {
    boost::asio::post(self->host_.loop, [self, failure, model] {
      self->open_->in_flight = false;
      if (self->dropped_) return self->go();
      if (!failure) {
        self->host_.shown.update(serve::CommittedModel::published(model));
        return self->pump();
      }
      try {
        std::rethrow_exception(failure);
      } catch (const kafka::TransactionAborted&) {
        self->pump();  // the next tick of its clock brings another
      } catch (const kafka::LaneInterrupted& interrupted) {
        self->reopen(interrupted.error());
      } catch (const Failure& other) {
        self->fail(other);
      }
    });
  });
}

// ---- trouble

/// Once, after a jittered pause that grows with the attempts.
void LaneWorker::retry_later(void (LaneWorker::*work)()) {
  const milliseconds pause = std::min(backoff_max, milliseconds(50) * (1 << std::min(attempts_, 7U)));
  ++attempts_;
  timer_.expires_after(jittered(pause));
  timer_.async_wait([self = shared_from_this(), work](const boost::system::error_code& cancelled) {
    if (!cancelled && !self->dropped_) ((*self).*work)();
  });
}

/// A new producer and the state read again tell where the lane is.
void LaneWorker::reopen(const kafka::Error& error) {
  dispose();
  if (gave_up()) {
    return fail(Failure(Exit::unavailable, "lane " + std::to_string(lane_.value()) + ": no broker has answered for " +
                                               std::to_string(host_.setup.config.kafka.give_up.count() / 1000) +
                                               " s (" + error.text +
                                               "); everything committed is safe: start again when they are back"));
  }
  if (phase_ == Phase::draining) return go();
  if (error.cause == kafka::Cause::fenced || error.cause == kafka::Cause::lost_membership) {
    // Perhaps somebody else has the lane, perhaps only the broker lost patience: the group knows.
    phase_ = Phase::fenced;
    set_state(serve::LaneState::waiting, error.text);
    timer_.expires_after(fenced_pause + jittered(milliseconds(1000)));
    timer_.async_wait([self = shared_from_this()](const boost::system::error_code& cancelled) {
      if (cancelled || self->phase_ != Phase::fenced) return;
      self->host_.consumer.ask_membership(kafka::in(self->host_.setup.config.kafka.transaction));
    });
    return;
  }
  phase_ = Phase::waiting;
  set_state(serve::LaneState::restoring, error.text);
  retry_later(&LaneWorker::start_opening);
}

void LaneWorker::membership_confirmed() {
  if (phase_ == Phase::fenced && !host_.consumer.assignment_lost()) start_opening();
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
}

void LaneWorker::publish_model(std::string model) {
  if (open_ == nullptr || phase_ != Phase::running) return;
  open_->model = std::move(model);
  commit_if_due();
}

}  // namespace nustream::attach
