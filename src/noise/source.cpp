#include "nustream/noise/source.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "generator.h"
#include "key_ring.h"
#include "lookahead.h"
#include "nustream/base/error.h"
#include "planted.h"
#include "seed_noise.h"

namespace nustream::noise {
namespace {

#ifdef NUSTREAM_BLOCK_SAMPLES  // for tests that cross many blocks in few steps
constexpr std::size_t block_samples = NUSTREAM_BLOCK_SAMPLES;
#else
constexpr std::size_t block_samples = 16384;
#endif
constexpr std::size_t block_steps_min = 16;

// The rows of a block begin at a cache line, which the widest vectors load whole.
struct CacheLineAligned {
  static constexpr std::align_val_t alignment{64};
  void operator()(double* memory) const noexcept { ::operator delete[](memory, alignment); }
};
using Samples = std::unique_ptr<double[], CacheLineAligned>;

Samples make_samples(std::size_t count) {
  return Samples(new (CacheLineAligned::alignment) double[count]);
}

}  // namespace

std::size_t steps_per_block(std::size_t dimension) {
  if (dimension == 0) throw InvalidParameter("dimension", "0", "at least 1");
  return std::max(block_steps_min, std::bit_floor(block_samples / std::min(dimension, block_samples)));
}

class NoiseSource::Impl {
 public:
  Impl(const Correlation& correlation, GeneratorKind kind, std::size_t dimension, const Checkpoint& checkpoint,
       StepIndex next_step, std::pmr::memory_resource* secrets, std::optional<StepCount> end)
      : kind_(kind == GeneratorKind::automatic ? automatic_kind(correlation) : kind),
        dimension_(dimension),
        block_steps_(steps_per_block(dimension)),
        horizon_(correlation.horizon()),
        end_(whole_strides(end)),
        generator_(make_generator(correlation, kind_, dimension)),
        keys_(checkpoint.block, checkpoint.chain_key, secrets),
        seed_(keys_, generator_->seed_width(), block_steps_),
        z_(make_samples(std::min<std::uint64_t>(block_steps_, end_ ? end_->value() : block_steps_) * dimension)) {
    const std::uint64_t wanted = next_step.value() / block_steps_;
    restore(checkpoint, wanted);
    while (upcoming_ < wanted) static_cast<void>(next());
  }

  CorrelatedBlock next() {
    const StepIndex first = first_step(upcoming_);
    const std::size_t steps = std::min(steps_within_horizon(first), steps_before_end(first));
    const std::span<double> z(z_.get(), steps * dimension_);
    generator_->copy_memory(memory_[upcoming_ % 2]);
    generator_->generate(first, steps, seed_, z);
    ++upcoming_;
    keys_.forget_before(oldest_block_needed(upcoming_ - std::min<std::uint64_t>(upcoming_ - restored_, 2)));
    return {first, steps, z};
  }

  [[nodiscard]] Checkpoint checkpoint(StepIndex next_step) const {
    const std::uint64_t block = next_step.value() / block_steps_;
    NUSTREAM_REQUIRE(restored_ <= block && block <= upcoming_ && upcoming_ - block <= 2,
                     "a checkpoint lies within the last two blocks or at their end");
    const std::uint64_t oldest = oldest_block_needed(block);
    Checkpoint result{oldest, keys_.chain_key(oldest), {}};
    result.memory = block == upcoming_ ? generator_->memory() : memory_[block % 2];
    NUSTREAM_REQUIRE(result.memory.empty() || oldest == block,
                     "a generator remembers values or reads old seed noise again, never both");
    return result;
  }

  [[nodiscard]] GeneratorKind kind() const noexcept { return kind_; }

 private:
  [[nodiscard]] StepIndex first_step(std::uint64_t block) const { return StepIndex{block * block_steps_}; }

  [[nodiscard]] std::uint64_t oldest_block_needed(std::uint64_t block) const {
    return generator_->oldest_needed(first_step(block)).value() / block_steps_;
  }

  // A generator without memory begins at the wanted block and reads what it needs from the keys since the
  // checkpoint's; one with memory begins where that was taken, and goes through the blocks in between.
  void restore(const Checkpoint& checkpoint, std::uint64_t wanted) {
    restored_ = upcoming_ = generator_->memoryless() ? wanted : checkpoint.block;
    if (checkpoint.block > wanted || oldest_block_needed(restored_) < checkpoint.block) {
      throw InvalidParameter("checkpoint", "block " + std::to_string(checkpoint.block),
                             "at most the oldest block that its next step needs");
    }
    const bool fresh = restored_ == 0 && checkpoint.memory.empty();
    if (!fresh) generator_->restore(first_step(restored_), checkpoint.memory);
  }

  [[nodiscard]] std::size_t steps_within_horizon(StepIndex first) const {
    if (!horizon_ || NUSTREAM_PLANTED("horizon-is-passed")) return block_steps_;
    if (first.value() >= horizon_->value()) {
      throw Unsupported("the correlation ends at step " + std::to_string(horizon_->value()) +
                        ": start a new epoch, or use a correlation without a horizon");
    }
    return static_cast<std::size_t>(std::min<std::uint64_t>(block_steps_, horizon_->value() - first.value()));
  }

  // Where a recurrence takes several steps at once, a stride that is cut would round otherwise.
  static std::optional<StepCount> whole_strides(std::optional<StepCount> end) {
    constexpr std::uint64_t last_whole =
        std::numeric_limits<std::uint64_t>::max() / lookahead_steps * lookahead_steps;
    if (!end || end->value() > last_whole) return {};
    return StepCount{(end->value() + lookahead_steps - 1) / lookahead_steps * lookahead_steps};
  }

  [[nodiscard]] std::size_t steps_before_end(StepIndex first) const {
    if (!end_) return block_steps_;
    NUSTREAM_REQUIRE(first.value() < end_->value(), "no block is asked for beyond the end that was said");
    return static_cast<std::size_t>(std::min<std::uint64_t>(block_steps_, end_->value() - first.value()));
  }

  GeneratorKind kind_;
  std::size_t dimension_;
  std::size_t block_steps_;
  std::optional<StepCount> horizon_;
  std::optional<StepCount> end_;
  std::unique_ptr<Generator> generator_;
  KeyRing keys_;
  KeyedSeedNoise seed_;
  Samples z_;
  std::uint64_t upcoming_ = 0;                 // block that next() gives
  std::uint64_t restored_ = 0;                 // block that the generator began at
  std::array<std::vector<double>, 2> memory_;  // at the start of the last two blocks, by parity
};

NoiseSource::NoiseSource(const Correlation& correlation, GeneratorKind kind, std::size_t dimension,
                         const Checkpoint& checkpoint, StepIndex next_step, std::pmr::memory_resource* secrets,
                         std::optional<StepCount> end)
    : impl_(std::make_unique<Impl>(correlation, kind, dimension, checkpoint, next_step, secrets, end)) {}
NoiseSource::~NoiseSource() = default;
NoiseSource::NoiseSource(NoiseSource&&) noexcept = default;
NoiseSource& NoiseSource::operator=(NoiseSource&&) noexcept = default;

CorrelatedBlock NoiseSource::next() {
  return impl_->next();
}

Checkpoint NoiseSource::checkpoint(StepIndex next_step) const {
  return impl_->checkpoint(next_step);
}

GeneratorKind NoiseSource::kind() const noexcept {
  return impl_->kind();
}

}  // namespace nustream::noise
