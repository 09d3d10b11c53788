// Drives one generator over the blocks of one key ring. It keeps what a checkpoint at either of the last two blocks
// needs, and forgets keys as soon as no such checkpoint can ask for them (privacy promise: forward secrecy).
#include "nustream/noise/source.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "generator.h"
#include "kernels.h"
#include "key_ring.h"
#include "nustream/base/error.h"
#include "seed_noise.h"

namespace nustream::noise {
namespace {

#ifdef NUSTREAM_BLOCK_SAMPLES  // for tests that cross many blocks in few steps
constexpr std::size_t block_samples = NUSTREAM_BLOCK_SAMPLES;
#else
// 16384 samples make the cost of a key expansion small. Larger blocks would widen what one chain key opens
// (docs/formats/noise.md, Blocks).
constexpr std::size_t block_samples = 16384;
#endif
constexpr std::size_t block_steps_min = 16;

// Blocks begin at a cache line, so that the widest vectors load whole lines.
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
  // A function of the dimension alone, so that every run divides the steps into the same blocks.
  // For example 16384 steps for d = 1, 1024 for d = 10, and 16 for d = 2000.
  return std::max(block_steps_min, std::bit_floor(block_samples / std::min(dimension, block_samples)));
}

// upcoming_ is the first step that next() gives. given_ holds what the generator remembered at the start of each of
// the last two blocks: a state may be committed at either of them while the blocks behind are already in use.
class NoiseSource::Impl {
 public:
  Impl(const Correlation& correlation, GeneratorKind kind, std::size_t dimension, const Checkpoint& checkpoint,
       StepIndex next_step, std::pmr::memory_resource* secrets, std::optional<StepCount> end, Healing healing)
      : kind_(kind == GeneratorKind::automatic ? automatic_kind(correlation) : kind),
        dimension_(dimension),
        block_steps_(steps_per_block(dimension)),
        horizon_(correlation.horizon()),
        end_(restarts_within_strides(correlation) ? std::nullopt : whole_strides(end)),
        generator_(make_generator(correlation, kind_, dimension)),
        start_(checked_start(checkpoint, next_step.value(), healing.fresh && healing.resumed)),
        keys_(checkpoint.segments, block_steps_, secrets, {std::move(healing), next_step.value(), length_min()}),
        seed_(keys_, generator_->seed_width()),
        room_(std::min<std::uint64_t>(block_steps_, end_ ? end_->value() : block_steps_)),
        z_(make_samples(room_ * dimension)) {
    restore(checkpoint);
  }

  // What the checkpoint of this block needs is kept before the block is generated. Keys are forgotten only as far as
  // the last two blocks allow, since a checkpoint may still be asked for at either of them.
  CorrelatedBlock next() {
    // A block ends at its border, at the horizon, or at the end that was said, whichever comes first.
    const std::size_t steps = std::min(steps_within_horizon(upcoming_), steps_before_end(upcoming_));
    Given& given = given_[count_ % given_.size()];
    given.first = upcoming_;
    generator_->copy_memory(given.memory);
    const std::span<const double> z = generate(steps);
    ++count_;
    // The older of the two blocks is in place 0 until both places are filled, and then where the next block will go.
    keys_.forget_before(oldest_needed(given_[count_ < given_.size() ? 0 : count_ % given_.size()].first));
    return {StepIndex{given.first}, steps, z};
  }

  [[nodiscard]] Checkpoint checkpoint(StepIndex next_step) const {
    const Given* const given = given_with(next_step.value());
    NUSTREAM_REQUIRE(given != nullptr || is_upcoming(next_step.value()),
                     "a checkpoint lies within the last two blocks or at their end");
    // A step inside a block is opened by what its block began with; the steps before it are then generated once more.
    const std::uint64_t at = given != nullptr ? given->first : upcoming_;
    Checkpoint result{keys_.segments(oldest_needed(at), at), {}};
    result.memory = given != nullptr ? given->memory : generator_->memory();
    NUSTREAM_REQUIRE(
        result.memory.empty() || (result.segments.size() == 1 && result.segments.front().first.value() == at),
        "a generator remembers values or reads old seed noise again, never both");
    return result;
  }

  // Each segment begins at another step of the reach, except the one that holds the oldest step.
  [[nodiscard]] std::size_t most_segments() const {
    return static_cast<std::size_t>(std::min<std::uint64_t>(generator_->reach() + 1, segments_max));
  }

  [[nodiscard]] GeneratorKind kind() const noexcept { return kind_; }

 private:
  struct Given {
    std::uint64_t first = 0;
    std::vector<double> memory{};  // what the generator remembered at its start
  };

  [[nodiscard]] std::uint64_t oldest_needed(std::uint64_t first) const {
    return generator_->oldest_needed(StepIndex{first}).value();
  }

  // The fewest steps of a segment. With this length the segments that a run itself begins are at most a quarter of
  // those that a checkpoint may have.
  [[nodiscard]] std::uint64_t length_min() const {
    constexpr std::uint64_t lengths = 1024;
    return std::max<std::uint64_t>((generator_->reach() + lengths - 1) / lengths, 1);
  }

  // Checks that the checkpoint fits, and returns the step that the first block begins with.
  [[nodiscard]] std::uint64_t checked_start(const Checkpoint& checkpoint, std::uint64_t next_step,
                                            bool is_cut) const {
    const std::vector<Segment>& segments = checkpoint.segments;
    const auto refuse_unless = [](bool condition, const char* allowed) {
      if (!condition) throw InvalidParameter("checkpoint", "another's", allowed);
    };
    refuse_unless(!segments.empty() && segments.size() <= segments_max, "1 to 4096 segments");
    const auto not_ascending = [](const Segment& one, const Segment& two) { return one.first >= two.first; };
    refuse_unless(std::adjacent_find(segments.begin(), segments.end(), not_ascending) == segments.end(),
                  "segments in ascending order");
    refuse_unless(generator_->memoryless() || segments.size() == 1, "one segment for a generator that remembers");
    const std::uint64_t last = segments.back().first.value();
    refuse_unless(last <= next_step, "segments up to the next step");
    // A segment that begins at the next step cuts its block. Without one, the block that holds the step is given
    // whole, from its border or from the start of the last segment.
    const std::uint64_t start = is_cut ? next_step : std::max(next_step / block_steps_ * block_steps_, last);
    const std::uint64_t oldest = oldest_needed(start);
    refuse_unless(!generator_->memoryless() || segments.front().first.value() <= oldest,
                  "a first segment at or before the oldest step that its next step needs");
    // The new segment would stand beside these, and beside the one that holds the oldest step. A segment that begins
    // at next_step itself has no step yet; it is replaced, and so needs no place.
    const auto later = std::count_if(segments.begin(), segments.end(),
                                     [&](const Segment& segment) { return segment.first.value() > oldest; });
    if (is_cut && last<next_step&& static_cast<std::size_t>(later) + 2> segments_max) {
      throw Unsupported("the noise that is still read was begun anew " + std::to_string(segments_max) +
                        " times, which is the most that a state holds: begin a new epoch");
    }
    return start;
  }

  // A generator without memory begins where it is to give its first block, and reads what it needs from the keys of
  // the checkpoint. One with memory begins where the checkpoint was taken, and goes through the steps in between.
  void restore(const Checkpoint& checkpoint) {
    upcoming_ = generator_->memoryless() ? start_ : checkpoint.segments.front().first.value();
    // A generator that was just made stands at step 0, and need not be told so.
    const bool fresh = upcoming_ == 0 && checkpoint.memory.empty();
    if (!fresh) generator_->restore(StepIndex{upcoming_}, checkpoint.memory);
    while (upcoming_ < start_) {
      // This is only for what the generator remembers. The noise itself was given in an earlier run.
      static_cast<void>(generate(
          static_cast<std::size_t>(std::min({room_, std::uint64_t{left_of_block(upcoming_)}, start_ - upcoming_}))));
    }
    // A checkpoint may hold keys that are no longer needed. They are wiped before the first block is given.
    keys_.advance_to(oldest_needed(start_));
    keys_.forget_before(oldest_needed(start_));
  }

  std::span<const double> generate(std::size_t steps) {
    NUSTREAM_REQUIRE(!failed_, "a source that got no fresh bytes gives no further block");
    const std::span<double> z(z_.get(), steps * dimension_);
    // Set for the time of the call: if the source of fresh bytes throws, the generator has half a block.
    failed_ = true;
    generator_->generate(StepIndex{upcoming_}, steps, seed_, z);
    failed_ = false;
    upcoming_ += steps;
    return z;
  }

  // Finds the step's block among the last two. A block that was cut short stands for the whole of it.
  [[nodiscard]] const Given* given_with(std::uint64_t step) const {
    for (std::uint64_t back = 1; back <= std::min<std::uint64_t>(count_, given_.size()); ++back) {
      const Given& given = given_[(count_ - back) % given_.size()];
      if (given.first <= step && given.first / block_steps_ == step / block_steps_) return &given;
    }
    return nullptr;
  }

  [[nodiscard]] bool is_upcoming(std::uint64_t step) const {
    return step >= upcoming_ && step / block_steps_ == upcoming_ / block_steps_;
  }

  [[nodiscard]] std::size_t left_of_block(std::uint64_t first) const { return block_steps_ - first % block_steps_; }

  [[nodiscard]] std::size_t steps_within_horizon(std::uint64_t first) const {
    if (!horizon_) return left_of_block(first);
    if (first >= horizon_->value()) {
      throw Unsupported("the correlation ends at step " + std::to_string(horizon_->value()) +
                        ": start a new epoch, or use a correlation without a horizon");
    }
    return static_cast<std::size_t>(std::min<std::uint64_t>(left_of_block(first), horizon_->value() - first));
  }

  // Whether strides begin at restarts. No multiple of a stride is then certain to end one.
  static bool restarts_within_strides(const Correlation& correlation) {
    const auto* restarted = std::get_if<Restarted>(&correlation.family());
    return restarted != nullptr && restarted->every().value() % lookahead_steps != 0;
  }

  // `end` rounded up to whole strides. Where a recurrence takes several steps at once, a stride that is cut would be
  // rounded otherwise.
  static std::optional<StepCount> whole_strides(std::optional<StepCount> end) {
    constexpr std::uint64_t last_whole =
        std::numeric_limits<std::uint64_t>::max() / lookahead_steps * lookahead_steps;
    if (!end || end->value() > last_whole) return {};
    return StepCount{(end->value() + lookahead_steps - 1) / lookahead_steps * lookahead_steps};
  }

  [[nodiscard]] std::size_t steps_before_end(std::uint64_t first) const {
    if (!end_) return left_of_block(first);
    NUSTREAM_REQUIRE(first < end_->value(), "no block is asked for beyond the end that was said");
    return static_cast<std::size_t>(std::min<std::uint64_t>(left_of_block(first), end_->value() - first));
  }

  GeneratorKind kind_;
  std::size_t dimension_;
  std::size_t block_steps_;
  std::optional<StepCount> horizon_;
  std::optional<StepCount> end_;
  std::unique_ptr<Generator> generator_;
  std::uint64_t start_;  // first step of the first block
  KeyRing keys_;
  KeyedSeedNoise seed_;
  std::uint64_t room_;  // number of steps that z_ has room for
  Samples z_;
  std::uint64_t upcoming_ = 0;    // first step that next() gives
  std::uint64_t count_ = 0;       // number of blocks given
  std::array<Given, 2> given_{};  // the last two blocks: block n is in n mod 2
  bool failed_ = false;
};

NoiseSource::NoiseSource(const Correlation& correlation, GeneratorKind kind, std::size_t dimension,
                         const Checkpoint& checkpoint, StepIndex next_step, std::pmr::memory_resource* secrets,
                         std::optional<StepCount> end, Healing healing)
    : impl_(std::make_unique<Impl>(correlation, kind, dimension, checkpoint, next_step, secrets, end,
                                   std::move(healing))) {}
NoiseSource::~NoiseSource() = default;
NoiseSource::NoiseSource(NoiseSource&&) noexcept = default;
NoiseSource& NoiseSource::operator=(NoiseSource&&) noexcept = default;

CorrelatedBlock NoiseSource::next() {
  return impl_->next();
}

Checkpoint NoiseSource::checkpoint(StepIndex next_step) const {
  return impl_->checkpoint(next_step);
}

std::size_t NoiseSource::most_segments() const {
  return impl_->most_segments();
}

GeneratorKind NoiseSource::kind() const noexcept {
  return impl_->kind();
}

}  // namespace nustream::noise
