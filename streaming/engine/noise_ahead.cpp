// Two blocks of noise at most are in memory: the one in use (`current_`), which only the loop touches, and the one
// behind it (`next_`), which the other thread makes under `making_` and hands over under the mutex. The noise source
// itself is never used by both threads at once. Checkpoints are kept for each block, because the source has moved on
// by the time that a state within the block is saved.
#include "engine/noise_ahead.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/noise_feed.h"
#include "nustream/base/error.h"

namespace nustream::engine {
namespace {

/// Checkpoints that a state will need. The keys are kept in locked memory, and are wiped when this is destroyed.
class KeptCheckpoints {
 public:
  KeptCheckpoints(const journal::NoiseCheckpoints& checkpoints, std::pmr::memory_resource* secrets)
      : segments_(secrets) {
    std::size_t count = 0;
    for (const noise::Checkpoint& stage : checkpoints.stages) count += stage.segments.size();
    segments_.reserve(count);  // all at once: a growing vector would leave copies of keys behind
    for (const noise::Checkpoint& stage : checkpoints.stages) {
      segments_.insert(segments_.end(), stage.segments.begin(), stage.segments.end());
      stages_.push_back({stage.segments.size(), stage.memory});
    }
  }
  ~KeptCheckpoints() {
    for (noise::Segment& segment : segments_) noise::wipe(segment.chain_key);
    for (Stage& stage : stages_) {
      noise::wipe({reinterpret_cast<std::uint8_t*>(stage.memory.data()), stage.memory.size() * sizeof(double)});
    }
  }
  KeptCheckpoints(const KeptCheckpoints&) = delete;
  KeptCheckpoints& operator=(const KeptCheckpoints&) = delete;

  [[nodiscard]] journal::NoiseCheckpoints value() const {
    journal::NoiseCheckpoints copy;
    copy.stages.reserve(stages_.size());
    std::size_t first = 0;
    for (const Stage& stage : stages_) {
      const auto segments = std::span(segments_).subspan(first, stage.segments);
      copy.stages.push_back({{segments.begin(), segments.end()}, stage.memory});
      first += stage.segments;
    }
    return copy;
  }

 private:
  struct Stage {
    std::size_t segments;
    std::vector<double> memory;
  };

  std::pmr::vector<noise::Segment> segments_;  // of all stages, in order
  std::vector<Stage> stages_;
};

/// A block of noise rounded to the grids, with the checkpoints for a state whose next step lies in the block or at
/// its end.
struct Block {
  std::uint64_t first;
  std::size_t steps;
  std::vector<std::vector<std::int64_t>> units;  ///< one for each stage
  /// For any step of the block: it holds the segment from which the block was drawn.
  std::unique_ptr<KeptCheckpoints> within;
  std::unique_ptr<KeptCheckpoints> at_end;  ///< for the step behind the block
};

}  // namespace

/// The part that is shared with the work in progress on the other thread. While `making_` is true, only the other
/// thread touches the feed.
class NoiseAhead::Impl : public std::enable_shared_from_this<NoiseAhead::Impl> {
 public:
  Impl(const config::Mechanism& mechanism, const journal::NoiseCheckpoints& checkpoints, StepIndex next_step,
       std::pmr::memory_resource* secrets, const noise::Healing& healing, Run run, Wake wake)
      : run_(std::move(run)),
        wake_(std::move(wake)),
        secrets_(secrets),
        feed_(std::in_place, mechanism, checkpoints, next_step, secrets, healing),
        horizon_(mechanism.horizon()),
        next_step_(next_step.value()),
        made_up_to_(next_step.value()),
        start_(keep(feed_->checkpoints())) {
    for (const config::CalibratedStage& stage : mechanism.stages) dimensions_.push_back(stage.dimension);
  }

  void make_next() {
    {
      const std::lock_guard hold(mutex_);
      // No block is made beyond the horizon, nor after a failure: the next take() throws that failure.
      if (making_ || next_ || failure_ || (horizon_ && made_up_to_ >= horizon_->value())) return;
      making_ = true;
    }
    // make() takes the mutex itself. So it is not held here, where `run_` might do the work at once.
    run_([self = shared_from_this()] { self->make(); });
  }

  [[nodiscard]] std::span<const noise::GridNoise> take(std::size_t steps_max) {
    if (!current_ || next_step_ == current_->first + current_->steps) {
      if (!advance()) return slice(0, 0);
      // The next block is asked for as soon as its place is free, so that it is made while the current one is in use.
      make_next();
    }
    const std::size_t offset = next_step_ - current_->first;
    const std::size_t steps = std::min(steps_max, current_->steps - offset);
    const auto taken = slice(offset, steps);
    next_step_ += steps;
    return taken;
  }

  [[nodiscard]] journal::NoiseCheckpoints checkpoints() const {
    // Before the first block is there, a state can only be that of the start. Within a block the state holds the
    // segment that the block was drawn from, since a resume has to draw the same block again.
    if (!current_) return start_->value();
    return next_step_ == current_->first + current_->steps ? current_->at_end->value() : current_->within->value();
  }

  [[nodiscard]] std::size_t ready() {
    const std::lock_guard hold(mutex_);
    const std::size_t here = current_ ? current_->first + current_->steps - next_step_ : 0;
    return here + (next_ ? next_->steps : 0);
  }

  /// Waits for the block that is being made, and destroys every key. The work itself may hold this object a moment
  /// longer, after the memory for keys is gone.
  void end() {
    std::unique_lock hold(mutex_);
    // Nobody is to be woken from here on: the loop that `wake_` posts to may be destroyed next.
    wake_ = nullptr;
    idle_.wait(hold, [this] { return !making_; });
    // Keys are destroyed while the memory that they lie in still exists.
    start_.reset();
    current_.reset();
    next_.reset();
    feed_.reset();
  }

 private:
  /// Makes the next block; runs on the other thread.
  void make() {
    std::unique_ptr<Block> block;
    std::exception_ptr failure;
    // A failure is kept for the loop, which sees it at the next take(). An exception must not leave this thread's
    // work.
    try {
      block = draw();
    } catch (...) {
      failure = std::current_exception();
    }
    // The wake-up is made under the lock as well. Once the lock is released, end() may return and the owner be
    // destroyed, together with the loop that is to be woken.
    const std::lock_guard hold(mutex_);
    failure_ = failure;
    if (block) made_up_to_ = block->first + block->steps;
    next_ = std::move(block);
    making_ = false;
    if (std::exchange(missed_, false) && wake_) wake_();
    idle_.notify_all();
  }

  [[nodiscard]] std::unique_ptr<Block> draw() {
    auto block = std::make_unique<Block>();
    // The feed gives at most the rest of the shortest stage's block. So this bound only stands for "as many as there
    // are".
    const std::span<const noise::GridNoise> drawn = feed_->take(std::numeric_limits<std::uint32_t>::max());
    block->first = drawn.front().first.value();
    block->steps = steps_in(drawn);
    for (const noise::GridNoise& stage : drawn) block->units.emplace_back(stage.units.begin(), stage.units.end());
    // Taken after the draw, because the draw may begin a new segment, which a state within the block needs.
    block->within = keep(feed_->checkpoints_at(drawn.front().first));
    block->at_end = keep(feed_->checkpoints());
    return block;
  }

  [[nodiscard]] std::unique_ptr<KeptCheckpoints> keep(const journal::NoiseCheckpoints& checkpoints) {
    return std::make_unique<KeptCheckpoints>(checkpoints, secrets_);
  }

  [[nodiscard]] std::span<const noise::GridNoise> slice(std::size_t offset, std::size_t steps) {
    slices_.clear();
    for (std::size_t i = 0; i < dimensions_.size(); ++i) {
      std::span<const std::int64_t> units;
      // Without steps there may be no block yet, and the slices are empty.
      if (steps > 0) units = std::span(current_->units[i]).subspan(offset * dimensions_[i], steps * dimensions_[i]);
      slices_.push_back({StepIndex{next_step_}, dimensions_[i], units});
    }
    return slices_;
  }

  /// Makes the next block the current one. Returns false where it is not there yet; then wake() is called later.
  [[nodiscard]] bool advance() {
    const std::lock_guard hold(mutex_);
    if (failure_) std::rethrow_exception(failure_);
    if (!next_) {
      NUSTREAM_REQUIRE(making_, "noise is asked for beyond the horizon");
      missed_ = true;
      return false;
    }
    current_ = std::move(next_);
    start_.reset();  // its keys lead to the noise of every block since the start
    NUSTREAM_REQUIRE(next_step_ >= current_->first && next_step_ < current_->first + current_->steps,
                     "the noise source gave the block of another step");
    return true;
  }

  Run run_;
  Wake wake_;
  std::pmr::memory_resource* secrets_;
  std::optional<NoiseFeed> feed_;
  std::vector<std::size_t> dimensions_;
  std::vector<noise::GridNoise> slices_;
  std::optional<StepCount> horizon_;
  std::uint64_t next_step_;
  std::unique_ptr<Block> current_;

  std::mutex mutex_;
  std::condition_variable idle_;
  bool making_ = false;
  bool missed_ = false;
  std::exception_ptr failure_;  // why there is no noise after the current block
  std::uint64_t made_up_to_;
  std::unique_ptr<Block> next_;
  std::unique_ptr<KeptCheckpoints> start_;  // until the first block is there
};

NoiseAhead::NoiseAhead(const config::Mechanism& mechanism, const journal::NoiseCheckpoints& checkpoints,
                       StepIndex next_step, std::pmr::memory_resource* secrets, const noise::Healing& healing,
                       Run run, Wake wake)
    : impl_(std::make_shared<Impl>(mechanism, checkpoints, next_step, secrets, healing, std::move(run),
                                   std::move(wake))) {
  impl_->make_next();
}

NoiseAhead::~NoiseAhead() {
  impl_->end();
}

std::span<const noise::GridNoise> NoiseAhead::take(std::size_t steps_max) {
  return impl_->take(steps_max);
}

journal::NoiseCheckpoints NoiseAhead::checkpoints() const {
  return impl_->checkpoints();
}

std::size_t NoiseAhead::ready() const {
  return impl_->ready();
}

}  // namespace nustream::engine
