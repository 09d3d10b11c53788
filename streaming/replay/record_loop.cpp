// The loop reads rows, steps whole minibatches, and closes a batch when its cadence says so. When a batch closes is
// decided by counts, by the clock and by the size of public releases, and never by what records hold.
#include "replay/record_loop.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "publish/reject_lines.h"

namespace nustream::replay {
namespace {

// With a few dozen features, the rows of one read fit into the second-level cache.
constexpr std::size_t rows_per_read = 2048;
// A batch also closes when its releases reach this many bytes. The bytes are public in any case, so that closing by
// them tells nothing more.
constexpr std::size_t outbox_bytes_max = std::size_t{8} << 20;

}  // namespace

RecordLoop::RecordLoop(engine::Stepper& stepper, decode::Reader& reader, const lane::Settings& settings,
                       Cadence cadence, Pacer pacer, FirstLook first)
    : stepper_(stepper),
      reader_(reader),
      minibatch_(settings.minibatch),
      cadence_(cadence),
      pacer_(pacer),
      first_(std::move(first)) {
  rows_.dimension = settings.dimension;
}

/// Steps all whole minibatches of the rows. Returns false where the limit stopped it before the last of them.
bool RecordLoop::step_rows() {
  // A paced reader gives one row at a time, so that at most one minibatch is whole. Its last row decides when it is
  // due.
  if (pacer_.active() && rows_.count() >= minibatch_ && !rows_.times.empty())
    pacer_.wait_for(rows_.times[minibatch_ - 1]);
  bool within_limit = true;
  while (rows_.count() >= minibatch_ && within_limit) {
    const engine::Progress progress = stepper_.step(rows_, rows_.count(), output_);
    counts_.records += progress.records;
    batch_records_ += progress.records;
    within_limit = !progress.limit_reached;
  }
  counts_.add(output_.rejects);
  if (cadence_.rejects) publish::append_reject_lines(output_.rejects, rejects_);
  output_.rejects.clear();
  return within_limit;
}

/// How many rows have to be there before the first look: what the look asks for, but no more than a batch takes.
std::uint64_t RecordLoop::first_rows() const {
  return std::min<std::uint64_t>(first_.rows, std::max(cadence_.commit_records, minibatch_));
}

/// Looks at the first rows once enough of them are there, or all (`is_all`). No row is stepped before that, since the
/// look may end the run.
void RecordLoop::look_at_first(bool is_all) {
  if (looked_ || !(is_all || rows_.count() >= first_rows())) return;
  looked_ = true;
  if (first_.look && rows_.count() > 0) first_.look(rows_);
}

bool RecordLoop::batch_full() const {
  const bool is_large = output_.outbox.size() >= outbox_bytes_max;
  return batch_records_ >= cadence_.commit_records || is_large ||
         std::chrono::steady_clock::now() - batch_opened_ >= cadence_.commit_seconds;
}

/// How many rows to read next: one where rows are paced; otherwise no more than the batch still takes, but at least a
/// minibatch.
std::size_t RecordLoop::rows_to_read() const {
  if (pacer_.active()) return 1;
  const std::uint64_t batch = std::max(cadence_.commit_records, batch_records_ + minibatch_);
  // Before the first look exactly as many rows are read as the look asks for. So what it judges does not depend on
  // how many rows a read gives.
  const std::uint64_t most = !looked_ && first_.rows > 1 ? first_rows() : rows_per_read + rows_.count();
  return static_cast<std::size_t>(std::min(most, batch - batch_records_) - rows_.count());
}

void RecordLoop::close_batch(const Commit& commit, bool is_last) {
  commit({std::exchange(output_.outbox, {}), std::exchange(rejects_, {}), is_last});
  batch_records_ = 0;
  batch_opened_ = std::chrono::steady_clock::now();
}

/// Reads on. Returns false where the input has ended. An input that breaks ends in the same way, and `failure` says
/// why: records that arrived whole are stepped and committed before it is thrown.
bool RecordLoop::read_more(std::exception_ptr& failure) {
  bool more = false;
  try {
    more = reader_.read(rows_, rows_to_read());
  } catch (const std::exception&) {
    failure = std::current_exception();
  }
  look_at_first(failure ? rows_.count() >= minibatch_ : !more);
  return more;
}

/// Steps and reads until the run ends in one of the ways of Ending, and commits full batches on the way.
Ending RecordLoop::step_until_end(const std::atomic<int>& stop, const Commit& commit, const Tick& tick,
                                  std::exception_ptr& failure) {
  bool more = true;
  while (true) {
    if (const int signal = stop.load(); signal != 0) return signal == SIGINT ? Ending::interrupted : Ending::drained;
    if (looked_ && !step_rows()) return Ending::exhausted;
    if (batch_records_ > 0 && batch_full()) close_batch(commit);
    if (!more) return Ending::input;
    tick(counts_.records);
    more = read_more(failure);
  }
}

Ending RecordLoop::run(const std::atomic<int>& stop, const Commit& commit, const Tick& tick) {
  batch_opened_ = std::chrono::steady_clock::now();
  std::exception_ptr failure;
  const Ending ending = step_until_end(stop, commit, tick, failure);
  counts_.left_over = ending == Ending::input ? rows_.count() : 0;
  // An input that ended, a horizon, and SIGTERM bring one more release of what was stepped. SIGINT, a budget and a
  // failure do not, so that a resumed run goes on as if nothing had happened.
  const bool at_horizon = ending == Ending::exhausted && cadence_.limit_is_horizon;
  const bool extra = (ending == Ending::input && !failure) || ending == Ending::drained || at_horizon;
  if (extra) stepper_.release_now(ending == Ending::drained ? "shutdown" : "end", output_);
  if (batch_records_ > 0 || !output_.outbox.empty()) close_batch(commit, true);
  if (failure) std::rethrow_exception(failure);
  return ending;
}

}  // namespace nustream::replay
