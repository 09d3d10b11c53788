// The middle of a lane's life: records come in from the service, rows become steps, and due batches become
// transactions. Taking over is in lane_opening.cpp, trouble and the end in lane_ends.cpp. Whatever happens calls
// pump(), which does all that can be done and then returns to the loop.
#include "attach/lane_worker.h"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

#include "attach/open_lane_parts.h"
#include "check/first_look.h"
#include "engine/noise_ahead.h"

namespace nustream::attach {
namespace {

using Clock = std::chrono::steady_clock;

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
      read_timer_(host.loop),
      tally_(lane, host.setup.config.input.look) {}

LaneWorker::~LaneWorker() = default;

/// Enters an event. True where it led to another stage. This is the only place where the stage changes.
bool LaneWorker::enter(LaneEvent event) {
  const LaneStage before = std::exchange(stage_, next(stage_, event));
  if (host_.watch_stages) host_.watch_stages(lane_, before, event, stage_);
  return stage_ != before;
}

void LaneWorker::show(serve::LaneStatus state, std::string reason) {
  host_.operators.set_state(lane_, state, std::move(reason));
}

kafka::PartitionIndex LaneWorker::partition() const {
  return kafka::PartitionIndex{static_cast<std::int32_t>(lane_.value())};
}

void LaneWorker::take(std::span<const kafka::Message> messages) {
  // Records that come while the lane is not open were fetched for an earlier opening, and are read again.
  if (!takes_records(stage_)) return;
  const std::size_t before = open_->input.rows().count();
  try {
    open_->input.take(messages, open_->state.seen);
  } catch (const Failure& failure) {
    return fail(failure);  // for example a record without the append time by which windows are measured
  }
  if (has_members(host_.setup.config.input)) {
    // The names of members tell which column is missing, and are kept of the first records only.
    for (const kafka::Message& message : messages) {
      if (message.record.value && !names_.is_full()) names_.add(*message.record.value);
    }
  }
  look_at_first(before);
  pump();
}

/// Tells the operator of the rows from `before` on, which were read just now and took no step yet.
void LaneWorker::look_at_first(std::size_t before) {
  const config::Config& config = host_.setup.config;
  const auto count_clips = [&](const record::RowSlice& rows, std::size_t usable) {
    return check::count_clips(config, *open_->state.mechanism, rows, usable);
  };
  tally_.read(open_->input.rows(), before, check::clip_of(config),
              open_->begins ? LaneTally::CountClips(count_clips) : LaneTally::CountClips(), [&] {
                return names_.missing(decode::wanted_columns(config.input, config.schema), config.input.envelope);
              });
  if (open_->begins) tally_.compare(open_->input.rows(), before, config.schema);
}

void LaneWorker::end_of_partition(std::uint64_t offset) {
  if (!takes_records(stage_)) return;
  open_->input.end_at(offset);
  pump();
}

void LaneWorker::tick() {
  tally_.tick(Clock::now());
  if (open_ == nullptr) return;
  // The client knows the end by its last fetch; nobody is asked for it.
  if (const auto end = host_.consumer.known_end(partition())) {
    // The end may be older than the last commit.
    const std::int64_t lag = end->value() - offset_of(open_->transactions.committed()).value();
    metrics_.consumer_lag_records->Set(static_cast<double>(std::max<std::int64_t>(lag, 0)));
  }
  // In tests the noise supply may be another one.
  if (const auto* ahead = dynamic_cast<const engine::NoiseAhead*>(&open_->batch.noise())) {
    metrics_.noise_ahead_steps->Set(static_cast<double>(ahead->ready()));
  }
}

/// Does all that the lane can do at present: steps the rows that wait, closes and commits batches that are due, and
/// takes note of an end. A transaction under way bounds it: while there is one, the open batch may fill up, but it
/// cannot be closed.
void LaneWorker::pump() {
  if (open_ == nullptr) return;
  while (true) {
    if (takes_steps(stage_) && !step_or_fail()) return;
    const bool full = open_->batch.room() == 0;
    if (!commit_if_due()) return;
    // Where a full batch was closed just now, rows that it had no room for may be stepped into the next one.
    if (!full || open_->batch.room() == 0) break;
  }
  // The order matters: reading goes on before the timer is set, and the end is noticed last, when nothing is left to
  // be stepped.
  regulate_input();
  schedule();
  settle();
  host_.look_for_room();
}

/// Steps rows into the open batch. Returns false where that failed, for example for lack of noise; the lane stops
/// then.
bool LaneWorker::step_or_fail() {
  try {
    step_batch();
    return true;
  } catch (const Failure& failure) {
    fail(failure);
    return false;
  }
}

void LaneWorker::step_batch() {
  open_->batch.step(
      open_->input.rows(), [this](std::size_t rejects) { return open_->input.next_letters(rejects); }, Clock::now());
}

/// A lane that is interrupted while it reads is closed before its stage changes, and is asked in between.
bool LaneWorker::is_full() const {
  return open_ && stage_ == LaneStage::reading && open_->input.is_full();
}

void LaneWorker::pause_if_full() {
  if (is_full() && !host_.consumer.pause(partition())) static_cast<void>(enter(LaneEvent::full));
}

void LaneWorker::regulate_input() {
  if (stage_ != LaneStage::paused) return;
  // Fewer rows than a minibatch take no step. A paused lane would wait for ever with them, so it reads on.
  const bool starved = open_->input.rows().count() < host_.setup.config.descent.minibatch;
  // Half of the room has to be free. Otherwise the lane would be paused and resumed for every few records.
  if (!open_->input.is_half_empty() && !starved) return;
  if (!host_.consumer.resume(partition())) static_cast<void>(enter(LaneEvent::room));
}

/// Sets a timer for the moment when the open batch, or a committed outbox, has waited for as long as it may.
void LaneWorker::schedule() {
  due_timer_.cancel();
  const LaneTransactions& transactions = open_->transactions;
  if (!transactions.is_free()) return;  // the end of the transaction under way calls pump(), and so this, again
  // A lane that ends commits what it owes at once, and closes no batch by the clock. A timer for that would be due
  // for ever: of a lane that stops between two releases the last steps stay without one.
  if (!takes_steps(stage_)) return;
  std::optional<Clock::time_point> due = open_->batch.closes_at();
  if (const auto since = transactions.owes_since()) {
    const Clock::time_point by = *since + host_.setup.config.publishing.linger;
    due = due ? std::min(*due, by) : by;
  }
  if (!due) return;
  due_timer_.expires_at(*due);
  due_timer_.async_wait([self = shared_from_this()](const boost::system::error_code& cancelled) {
    if (!cancelled) self->pump();
  });
}

bool LaneWorker::is_due(Clock::time_point now) const {
  const LaneTransactions& transactions = open_->transactions;
  if (is_ending(stage_)) return open_->owes_anything();
  const auto since = transactions.owes_since();
  // An outbox that waits becomes public with the next transaction, at the latest after release.linger_seconds.
  if (since && now - *since >= host_.setup.config.publishing.linger) return true;
  return open_->batch.is_due(now);
}

/// False where the batch could not be sealed, as over a full disk that holds the table of users, and the lane stops.
bool LaneWorker::commit_if_due() {
  LaneTransactions& transactions = open_->transactions;
  if (!transactions.is_free()) return true;
  const Clock::time_point now = Clock::now();
  if (is_due(now)) {
    ClosedBatch batch = open_->batch.close(now);
    // A line that closes is only written where the lane ends.
    batch.content.closes = is_ending(stage_);
    try {
      transactions.commit(std::move(batch), member(), now, completion());
    } catch (const Failure& failure) {
      fail(failure);
      return false;
    }
  } else if (kept_.model) {
    transactions.send_model(completion());
  }
  return true;
}

/// A completion for the journal, which calls it on one of its own threads. It posts the outcome to the loop's thread,
/// on which this object lives.
journal::Completion LaneWorker::completion() {
  return [self = shared_from_this()](std::exception_ptr failure) {
    boost::asio::post(self->host_.loop, [self, failure = std::move(failure)] { self->transaction_ended(failure); });
  };
}

LaneTransactions::Member LaneWorker::member() const {
  return std::make_shared<const kafka::GroupMetadata>(host_.consumer.group_metadata());
}

void LaneWorker::transaction_ended(const std::exception_ptr& failure) {
  // The lane was told to end meanwhile. Whether the transaction was committed or not, the next owner finds it in the
  // topics.
  if (stage_ == LaneStage::leaving || stage_ == LaneStage::stopping) return end_with(LaneEvent::quiet);
  const Ended ended = open_->transactions.ended(failure, Clock::now());
  if (const auto* committed = std::get_if<Committed>(&ended)) {
    all_is_well();
    open_->input.letters_gone(committed->letter_bytes);
    tally_.committed(committed->tally);
    pump();
  } else if (const auto* aborted = std::get_if<Aborted>(&ended)) {
    // The same batch could be sent again for ever. After kafka.give_up a new producer finds out what is wrong.
    if (gave_up()) return reopen(aborted->error);
    retry_later(&LaneWorker::send_again);
  } else if (const auto* interrupted = std::get_if<Interrupted>(&ended)) {
    reopen(interrupted->error);
  } else {
    fail(std::get<Failure>(ended));
  }
}

/// Called after the pause that follows an abort. An aborted batch is sent again, the very same bytes. After an
/// aborted record of the model, a batch that is due goes first.
void LaneWorker::send_again() {
  if (open_ == nullptr) return;
  LaneTransactions& transactions = open_->transactions;
  if (transactions.stage() == TransactionStage::batch_aborted) {
    transactions.commit_again(member(), completion());
  } else if (transactions.stage() == TransactionStage::model_aborted) {
    transactions.end_pause();
    pump();
  }
}

void LaneWorker::publish_model(std::string model) {
  // A record that still waits is replaced: only the newest one is wanted.
  kept_.model = std::move(model);
  pump();
}

}  // namespace nustream::attach
