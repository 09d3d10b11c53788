#include "replay/engine.h"

#include <algorithm>
#include <csignal>

#include "publish/json_text.h"

namespace nustream::replay {
namespace {

// Rows of a read stay in the second-level cache at a few dozen features.
constexpr std::size_t rows_per_read = 2048;
// A batch also closes when its releases reach this size: a count of bytes that are public anyway.
constexpr std::size_t outbox_bytes_max = std::size_t{8} << 20;

template <class T>
void drop_front(std::vector<T>& values, std::size_t count) {
  values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(std::min(count, values.size())));
}

}  // namespace

Engine::Engine(lane::Lane& lane, NoiseFeed& feed, publish::ReleaseEncoder& encoder, decode::Reader& reader,
               const lane::Settings& settings, Cadence cadence, Pacer pacer)
    : lane_(lane),
      feed_(feed),
      encoder_(encoder),
      reader_(reader),
      minibatch_(settings.minibatch),
      cadence_(cadence),
      pacer_(pacer) {
  rows_.dimension = settings.dimension;
}

void Engine::encode(std::string_view tag) {
  for (std::size_t i = 0; i < releases_.size(); ++i) {
    const lane::Release release = releases_[i];
    encoder_.append(release, tag, result_.outbox);
    released_at_ = release.steps.value();
  }
  releases_.clear();
}

void Engine::take_rejects() {
  const std::uint64_t position = lane_.position().value();
  std::size_t taken = 0;
  for (const record::Reject& reject : rows_.rejects) {
    if (reject.position.value() >= position) break;
    ++taken;
    if (!cadence_.rejects) continue;
    result_.rejects += "{\"position\":";
    publish::append_number(reject.position.value(), result_.rejects);
    result_.rejects += ",\"reason\":";
    publish::append_string(reject.reason, result_.rejects);
    result_.rejects += "}\n";
  }
  counts_.rejected += taken;
  drop_front(rows_.rejects, taken);
}

void Engine::drop_stepped(std::size_t rows) {
  if (rows == rows_.count() && rows_.rejects.empty()) {
    rows_.clear();
    return;
  }
  drop_front(rows_.x, rows * rows_.dimension);
  drop_front(rows_.y, rows);
  drop_front(rows_.next, rows);
  drop_front(rows_.times, rows);
}

/// Steps all whole minibatches of the rows; false where the limit stopped it before the last of them.
bool Engine::step_rows() {
  std::uint64_t steps = rows_.count() / minibatch_;
  bool within_limit = true;
  if (cadence_.step_limit) {
    // A resume may come with a budget that is already behind: then nothing is left, never a wrapped difference.
    const std::uint64_t limit = cadence_.step_limit->value();
    const std::uint64_t left = limit > lane_.steps().value() ? limit - lane_.steps().value() : 0;
    within_limit = steps <= left;
    steps = std::min(steps, left);
  }
  std::size_t row = 0;
  while (steps > 0) {
    const noise::GridNoise noise = feed_.take(pacer_.active() ? 1 : steps);
    const std::size_t taken = noise.units.size() / noise.dimension;
    const std::size_t end = row + taken * minibatch_;
    if (pacer_.active() && !rows_.times.empty()) pacer_.wait_for(rows_.times[end - 1]);
    lane_.advance(record::slice(rows_, row, end), noise, releases_);
    row = end;
    steps -= taken;
  }
  encode("cadence");
  counts_.records += row;
  batch_records_ += row;
  take_rejects();
  drop_stepped(row);
  return within_limit;
}

bool Engine::batch_full() const {
  return batch_records_ >= cadence_.commit_records || result_.outbox.size() >= outbox_bytes_max ||
         std::chrono::steady_clock::now() - batch_opened_ >= cadence_.commit_seconds;
}

void Engine::close_batch(const Commit& commit) {
  BatchResult closed;
  std::swap(closed, result_);
  commit(std::move(closed));
  batch_records_ = 0;
  batch_opened_ = std::chrono::steady_clock::now();
}

Ending Engine::run(const std::atomic<int>& stop, std::uint64_t released_at, const Commit& commit, const Tick& tick) {
  released_at_ = released_at;
  batch_opened_ = std::chrono::steady_clock::now();
  Ending ending = Ending::input;
  bool more = true;
  std::exception_ptr failure;  // a broken input: what arrived whole is stepped and committed first
  while (true) {
    if (const int signal = stop.load(); signal != 0) {
      ending = signal == SIGINT ? Ending::interrupted : Ending::drained;
      break;
    }
    if (!step_rows()) {
      ending = Ending::exhausted;
      break;
    }
    if (batch_records_ > 0 && batch_full()) close_batch(commit);
    if (!more || failure) break;
    tick(counts_.records);
    try {
      more = reader_.read(rows_, pacer_.active() ? 1 : rows_per_read);
    } catch (const std::exception&) {
      failure = std::current_exception();
    }
  }
  counts_.left_over = ending == Ending::input ? rows_.count() : 0;
  const bool extra = (ending == Ending::input && !failure) || ending == Ending::drained;
  if (extra && lane_.steps().value() > released_at_) {
    lane_.release_now(releases_);
    encode(ending == Ending::drained ? "shutdown" : "end");
  }
  if (batch_records_ > 0 || !result_.outbox.empty()) close_batch(commit);
  if (failure) std::rethrow_exception(failure);
  return ending;
}

}  // namespace nustream::replay
