// The open batch. Its close depends on counts, bytes of releases and time, which are public, and never on what
// records say; the same holds for the release by the clock.
#include "attach/open_batch.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "decode/line_decoder.h"
#include "journal/release_chain.h"

namespace nustream::attach {
namespace {

/// The reason that a decoder gave for a reject, in the short list of reasons that the operator's counter knows.
serve::RejectReason reject_reason(std::string_view reason) {
  if (reason == decode::too_long) return serve::RejectReason::too_long;
  if (reason == decode::deleted || reason.find("tombstone") != std::string_view::npos)
    return serve::RejectReason::tombstone;
  if (reason.find("': a user of another lane") != std::string_view::npos) return serve::RejectReason::other_lane;
  if (reason.starts_with("column '")) return serve::RejectReason::unusable_field;
  return serve::RejectReason::malformed;
}

}  // namespace

BatchLimits batch_limits(const Setup& setup) {
  const config::Config& config = setup.config;
  return {
      config.state.commit_records,
      *config.publishing.outbox_bytes_max,
      setup.release_bytes_max,
      config.descent.release_every,
      config.descent.minibatch,
      std::chrono::duration<double>(config.state.commit_seconds),
      !config.kafka.topics.dead_letters.empty(),
      config.moments.has_value(),
      config.publishing.interval,
      config.users.has_value(),
      config.descent.users && config.descent.users->windows() && config.descent.users->windows()->times_are_trusted};
}

OpenBatch::OpenBatch(const BatchLimits& limits, engine::Estimator& lane, std::unique_ptr<engine::NoiseSupply> noise,
                     publish::ReleaseEncoder encoder, std::optional<StepCount> limit, StepCount released, Time now)
    : limits_(limits),
      lane_(lane),
      noise_(std::move(noise)),
      encoder_(std::move(encoder)),
      stepper_(lane_, *noise_, encoder_, limits.minibatch, limit, released.value()),
      opened_(now),
      released_(now),
      released_steps_(released.value()) {}

// Every release that the records may bring has to fit the outbox, whatever its numbers are. So a release that is
// still to come counts as release_bytes_max bytes. A release that is in the outbox already counts with its real size,
// because its bytes will be public.
std::size_t OpenBatch::room() const {
  const std::size_t taken = output_.outbox.size() + lines_ * journal::chain_bytes_max;
  if (records_ >= limits_.records_max || taken >= limits_.outbox_bytes_max) return 0;
  const std::uint64_t by_count = limits_.records_max - records_;
  const std::size_t bytes_left = limits_.outbox_bytes_max - taken;
  const std::uint64_t releases = bytes_left / limits_.release_bytes_max;
  if (releases == 0) return 0;
  const std::uint64_t records_a_release = limits_.release_every * limits_.minibatch;
  // The comparison divides, since the product may overflow.
  const std::uint64_t by_bytes = records_a_release > by_count / releases ? by_count : releases * records_a_release;
  const std::uint64_t room = std::min(by_count, by_bytes);
  // Only whole minibatches take a step.
  return static_cast<std::size_t>(room - room % limits_.minibatch);
}

void OpenBatch::step(record::RowBatch& rows, const TakeLetters& take_letters, Time now) {
  while (!limit_reached_) {
    const std::size_t most = room();
    if (most == 0) break;
    // The age of a batch counts from its first record.
    if (is_empty()) opened_ = now;
    const std::size_t before = output_.outbox.size();
    const engine::Progress progress = stepper_.step(rows, most, output_);
    lines_ += lines_behind(before);
    records_ += progress.records;
    limit_reached_ = progress.limit_reached;
    // This is done in each round, so that letters and rejects stay side by side.
    collect_rejects(take_letters);
    // Nothing moved, or noise is missing, which wakes the lane when it is there.
    if (progress.records == 0 || progress.noise_pending) break;
  }
}

void OpenBatch::release_now(std::string_view tag) {
  const std::size_t before = output_.outbox.size();
  stepper_.release_now(tag, output_);
  lines_ += lines_behind(before);
}

std::size_t OpenBatch::lines_behind(std::size_t begin) const {
  return static_cast<std::size_t>(
      std::count(output_.outbox.begin() + static_cast<std::ptrdiff_t>(begin), output_.outbox.end(), '\n'));
}

void OpenBatch::collect_rejects(const TakeLetters& take_letters) {
  std::vector<record::Reject>& rejects = output_.rejects;
  // Rejects count as records, and take their steps, but have no gradients.
  rejects_ += rejects.size();
  for (const record::Reject& reject : rejects) {
    ++figures_.rejected[static_cast<std::size_t>(reject_reason(reject.reason))];
  }
  figures_.tally.add(rejects);
  if (limits_.writes_letters) {
    std::vector<journal::DeadLetter> letters = take_letters(rejects.size());
    // A letter that is missing was given up because not even its reason fits the topic.
    figures_.letters_lost += rejects.size() - letters.size();
    std::move(letters.begin(), letters.end(), std::back_inserter(letters_));
  }
  rejects.clear();
}

/// When the next release by the clock is due; nothing where there is no release by the clock, or where it would
/// repeat the last release.
std::optional<OpenBatch::Time> OpenBatch::release_due() const {
  if (limits_.release_interval.count() == 0 || lane_.steps().value() <= stepper_.released_at()) return std::nullopt;
  return released_ + std::chrono::duration_cast<Time::duration>(limits_.release_interval);
}

std::optional<OpenBatch::Time> OpenBatch::closes_at() const {
  const std::optional<Time> by_clock = release_due();
  if (is_empty()) return by_clock;
  const Time by_age = opened_ + std::chrono::duration_cast<Time::duration>(limits_.open_max);
  return by_clock ? std::min(by_age, *by_clock) : by_age;
}

bool OpenBatch::is_due(Time now) const {
  // A release by the clock closes even an empty batch: a step was taken since the last release.
  const std::optional<Time> by_clock = release_due();
  if (by_clock && now >= *by_clock) return true;
  if (is_empty()) return false;
  // A batch at the limit closes at once, since nothing will come any more.
  return room() == 0 || limit_reached_ || now - opened_ >= limits_.open_max;
}

void OpenBatch::count_contributions() {
  const std::uint64_t all = lane_.contributions();
  check::Tally& tally = figures_.tally;
  tally.of_users = true;
  tally.gradients = all - std::exchange(contributions_before_, all);
  const std::uint64_t beyond = lane_.beyond_limits();
  tally.used_up = beyond - std::exchange(beyond_limits_before_, beyond);
  if (!limits_.times_are_trusted) return;
  const check::WindowsSeen seen = check::windows_seen(lane_.clock()).value_or(check::WindowsSeen{});
  tally.windows = seen.since(std::exchange(windows_before_, seen));
}

ClosedBatch OpenBatch::close(Time now) {
  // This comes before the checkpoints and the outbox are taken, so that the release is in this batch.
  if (const std::optional<Time> by_clock = release_due(); by_clock && now >= *by_clock) release_now("clock");
  // Any release of this batch, by steps or by the clock, begins the interval anew.
  if (stepper_.released_at() > std::exchange(released_steps_, stepper_.released_at())) released_ = now;
  if (records_ > 0) {
    const std::uint64_t clipped = lane_.clipped();
    figures_.seconds = std::chrono::duration<double>(now - opened_).count();
    // The batch counts its own alone: the lane counts since it was opened.
    figures_.clipped_ratio = static_cast<double>(clipped - clipped_before_) / static_cast<double>(records_);
    figures_.tally.records = records_;
    figures_.tally.gradients = records_ - rejects_;
    figures_.tally.clipped = clipped - clipped_before_;
    figures_.tally.of_sums = limits_.of_sums;
    clipped_before_ = clipped;
    if (limits_.of_users) count_contributions();
  }
  figures_.records = std::exchange(records_, 0);
  lines_ = 0;
  // These are the checkpoints of the step behind this batch.
  return {{noise_->checkpoints(), std::exchange(output_.outbox, {}), std::exchange(letters_, {}),
           StepCount{stepper_.released_at()}},
          std::exchange(figures_, {}),
          std::exchange(rejects_, 0),
          now};
}

}  // namespace nustream::attach
