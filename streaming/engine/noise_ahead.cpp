#include "engine/noise_ahead.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "nustream/base/error.h"

namespace nustream::engine {
namespace {

/// Where a block begins or ends: the keys are in locked memory and wiped with it.
class KeptCheckpoint {
 public:
  KeptCheckpoint(noise::Checkpoint checkpoint, std::pmr::memory_resource* secrets)
      : secrets_(secrets),
        kept_(new(secrets->allocate(sizeof(noise::Checkpoint), alignof(noise::Checkpoint)))
                  noise::Checkpoint(std::move(checkpoint))) {
    noise::wipe(checkpoint.chain_key);
  }
  ~KeptCheckpoint() {
    noise::wipe(kept_->chain_key);
    kept_->~Checkpoint();
    secrets_->deallocate(kept_, sizeof(noise::Checkpoint), alignof(noise::Checkpoint));
  }
  KeptCheckpoint(const KeptCheckpoint&) = delete;
  KeptCheckpoint& operator=(const KeptCheckpoint&) = delete;

  [[nodiscard]] const noise::Checkpoint& value() const noexcept { return *kept_; }

 private:
  std::pmr::memory_resource* secrets_;
  noise::Checkpoint* kept_;
};

/// A block rounded to the grid, with what a state needs whose next step lies in it or at its end.
struct Block {
  std::uint64_t first;
  std::size_t steps;
  std::vector<std::int64_t> units;
  std::unique_ptr<KeptCheckpoint> at_first;
  std::unique_ptr<KeptCheckpoint> at_end;
};

}  // namespace

/// Shared with the work in progress. The source is the other thread's while `making_`, nobody's else.
class NoiseAhead::Impl : public std::enable_shared_from_this<NoiseAhead::Impl> {
 public:
  Impl(const config::Mechanism& mechanism, const noise::Checkpoint& checkpoint, StepIndex next_step,
       std::pmr::memory_resource* secrets, Run run, Wake wake)
      : run_(std::move(run)),
        wake_(std::move(wake)),
        secrets_(secrets),
        source_(std::in_place, mechanism.correlation, mechanism.generator, mechanism.dimension, checkpoint, next_step,
                secrets),
        grid_(mechanism.grid),
        dimension_(mechanism.dimension),
        horizon_(mechanism.correlation.horizon()),
        next_step_(next_step.value()),
        made_up_to_(next_step.value()),
        start_(std::make_unique<KeptCheckpoint>(source_->checkpoint(next_step), secrets)) {}

  void make_next() {
    {
      const std::lock_guard hold(mutex_);
      if (making_ || next_ || (horizon_ && made_up_to_ >= horizon_->value())) return;
      making_ = true;
    }
    run_([self = shared_from_this()] { self->make(); });
  }

  [[nodiscard]] noise::GridNoise take(std::size_t steps_max) {
    if (!current_ || next_step_ == current_->first + current_->steps) {
      if (!advance()) return {StepIndex{next_step_}, dimension_, {}};
      make_next();
    }
    const std::size_t offset = next_step_ - current_->first;
    const std::size_t steps = std::min(steps_max, current_->steps - offset);
    const noise::GridNoise slice{StepIndex{next_step_}, dimension_,
                                 std::span(current_->units).subspan(offset * dimension_, steps * dimension_)};
    next_step_ += steps;
    return slice;
  }

  [[nodiscard]] noise::Checkpoint checkpoint() const {
    if (!current_) return start_->value();
    return next_step_ == current_->first + current_->steps ? current_->at_end->value() : current_->at_first->value();
  }

  [[nodiscard]] std::size_t ready() {
    const std::lock_guard hold(mutex_);
    const std::size_t here = current_ ? current_->first + current_->steps - next_step_ : 0;
    return here + (next_ ? next_->steps : 0);
  }

  /// Waits for the block in work and lets go of every key: the work itself may hold this object for a moment longer,
  /// when the memory for keys is gone.
  void end() {
    std::unique_lock hold(mutex_);
    wake_ = nullptr;
    idle_.wait(hold, [this] { return !making_; });
    start_.reset();
    current_.reset();
    next_.reset();
    source_.reset();
  }

 private:
  /// The other thread's part.
  void make() {
    const noise::CorrelatedBlock drawn = source_->next();
    auto block = std::make_unique<Block>();
    block->first = drawn.first.value();
    block->steps = drawn.steps;
    block->units.resize(drawn.steps * dimension_);
    grid_.round_noise(drawn.z, block->units);
    block->at_first = keep(block->first);
    block->at_end = keep(block->first + block->steps);
    // All of it under the lock: behind it, a destructor that waits may be gone, and whoever is to be woken with it.
    const std::lock_guard hold(mutex_);
    made_up_to_ = block->first + block->steps;
    next_ = std::move(block);
    making_ = false;
    if (std::exchange(missed_, false) && wake_) wake_();
    idle_.notify_all();
  }

  [[nodiscard]] std::unique_ptr<KeptCheckpoint> keep(std::uint64_t step) {
    return std::make_unique<KeptCheckpoint>(source_->checkpoint(StepIndex{step}), secrets_);
  }

  /// Makes the next block the current one; false, and wake() later, where it is not there yet.
  [[nodiscard]] bool advance() {
    const std::lock_guard hold(mutex_);
    if (!next_) {
      NUSTREAM_REQUIRE(making_, "noise is asked for beyond the horizon");
      missed_ = true;
      return false;
    }
    current_ = std::move(next_);
    start_.reset();  // an old key would open every block since
    NUSTREAM_REQUIRE(next_step_ >= current_->first && next_step_ < current_->first + current_->steps,
                     "the noise source gave the block of another step");
    return true;
  }

  Run run_;
  Wake wake_;
  std::pmr::memory_resource* secrets_;
  std::optional<noise::NoiseSource> source_;
  noise::Grid grid_;
  std::size_t dimension_;
  std::optional<StepCount> horizon_;
  std::uint64_t next_step_;
  std::unique_ptr<Block> current_;

  std::mutex mutex_;
  std::condition_variable idle_;
  bool making_ = false;
  bool missed_ = false;
  std::uint64_t made_up_to_;
  std::unique_ptr<Block> next_;
  std::unique_ptr<KeptCheckpoint> start_;  // until the first block is there
};

NoiseAhead::NoiseAhead(const config::Mechanism& mechanism, const noise::Checkpoint& checkpoint, StepIndex next_step,
                       std::pmr::memory_resource* secrets, Run run, Wake wake)
    : impl_(std::make_shared<Impl>(mechanism, checkpoint, next_step, secrets, std::move(run), std::move(wake))) {
  impl_->make_next();
}

NoiseAhead::~NoiseAhead() {
  impl_->end();
}

noise::GridNoise NoiseAhead::take(std::size_t steps_max) {
  return impl_->take(steps_max);
}

noise::Checkpoint NoiseAhead::checkpoint() const {
  return impl_->checkpoint();
}

std::size_t NoiseAhead::ready() const {
  return impl_->ready();
}

}  // namespace nustream::engine
