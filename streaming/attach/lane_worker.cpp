#include "attach/lane_worker.h"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

#include "attach/open_lane_parts.h"
#include "attach/reject_reason.h"
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
  host_.answered();
}

kafka::PartitionIndex LaneWorker::partition() const {
  return kafka::PartitionIndex{static_cast<std::int32_t>(lane_.value())};
}

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
    const std::int64_t lag = end->value() - offset_of(open_->committed).value();
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

void LaneWorker::publish_model(std::string model) {
  model_ = std::move(model);
  pump();
}

}  // namespace nustream::attach
