// The step of a run: rows wait in a batch until a whole minibatch and its noise are there, then the estimator takes
// the steps, and the releases that became due are encoded. Whether there is noise, and which limit holds, is decided
// elsewhere (noise_feed.h, epoch_ledger.h).
#include "engine/stepper.h"

#include <algorithm>
#include <limits>

namespace nustream::engine {
namespace {

/// Drops the first `count` values. Columns that a reader did not fill (times, users, weights) are empty, and stay so.
template <class T>
void drop_front(std::vector<T>& values, std::size_t count) {
  values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(std::min(count, values.size())));
}

/// Drops the first `count` rows. Rejects stay, since some may belong to rows that are not stepped yet; where no row
/// and no reject is left, clear() keeps the vectors' memory for the next read.
void drop_rows(record::RowBatch& rows, std::size_t count) {
  if (count == rows.count() && rows.rejects.empty()) {
    rows.clear();
    return;
  }
  drop_front(rows.x, count * rows.dimension);
  drop_front(rows.y, count);
  drop_front(rows.next, count);
  drop_front(rows.times, count);
  drop_front(rows.users, count);
  drop_front(rows.weights, count);
}

/// Moves the rejects before `position` to `out`.
void take_rejects(record::RowBatch& rows, Position position, std::vector<record::Reject>& out) {
  const auto rest = std::find_if(rows.rejects.begin(), rows.rejects.end(),
                                 [&](const record::Reject& reject) { return reject.position >= position; });
  out.insert(out.end(), std::make_move_iterator(rows.rejects.begin()), std::make_move_iterator(rest));
  rows.rejects.erase(rows.rejects.begin(), rest);
}

}  // namespace

Stepper::Stepper(Estimator& lane, NoiseSupply& noise, publish::ReleaseEncoder& encoder, std::uint64_t minibatch,
                 std::optional<StepCount> limit, std::uint64_t released_at)
    : lane_(lane),
      noise_(noise),
      encoder_(encoder),
      minibatch_(minibatch),
      limit_(limit),
      released_at_(released_at) {}

/// How many steps the limit leaves. A lane may be resumed under a limit that it has passed already. Then no steps are
/// left, and the difference must not wrap around.
std::uint64_t Stepper::steps_left() const {
  if (!limit_) return std::numeric_limits<std::uint64_t>::max();
  return limit_->value() > lane_.steps().value() ? limit_->value() - lane_.steps().value() : 0;
}

Progress Stepper::step(record::RowBatch& rows, std::size_t rows_max, Output& out) {
  // Only whole minibatches are stepped: each step takes exactly m records, so that the number of steps follows from
  // the number of records alone. Rows that are left over wait for the next call.
  const std::uint64_t wanted = std::min(rows.count(), rows_max) / minibatch_;
  std::uint64_t steps = std::min(wanted, steps_left());
  Progress progress{.limit_reached = steps < wanted};
  while (steps > 0) {
    const std::span<const noise::GridNoise> noise = noise_.take(steps);
    const std::size_t taken = steps_in(noise);
    if (taken == 0) {
      // The limit may not be reported before the steps below it are taken, so a lane at its end waits for its noise
      // first.
      progress.noise_pending = true;
      progress.limit_reached = false;
      break;
    }
    const std::size_t end = progress.records + taken * minibatch_;
    lane_.advance(record::slice(rows, progress.records, end), noise);
    progress.records = end;
    steps -= taken;
  }
  // All releases of these steps were due by their step numbers (release.every). They are encoded once for all slices,
  // in step order.
  encode("cadence", out);
  take_rejects(rows, lane_.position(), out.rejects);
  drop_rows(rows, progress.records);
  return progress;
}

void Stepper::release_now(std::string_view tag, Output& out) {
  // A second release of the same state would only repeat the line before it.
  if (lane_.steps().value() <= released_at_) return;
  lane_.release_now();
  encode(tag, out);
}

void Stepper::encode(std::string_view tag, Output& out) {
  lane_.take_releases(encoder_, tag, released_at_, out.outbox);
}

}  // namespace nustream::engine
