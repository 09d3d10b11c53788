#include "engine/noise_feed.h"

#include <algorithm>

#include "nustream/base/error.h"

namespace nustream::engine {

NoiseFeed::NoiseFeed(const config::Mechanism& mechanism, const noise::Checkpoint& checkpoint, StepIndex next_step,
                     std::pmr::memory_resource* secrets)
    : source_(mechanism.correlation, mechanism.generator, mechanism.dimension, checkpoint, next_step, secrets),
      grid_(mechanism.grid),
      dimension_(mechanism.dimension),
      next_step_(next_step.value()) {}

void NoiseFeed::next_block() {
  drawn_ = true;
  const noise::CorrelatedBlock block = source_.next();
  block_first_ = block.first.value();
  block_steps_ = block.steps;
  NUSTREAM_REQUIRE(next_step_ >= block_first_ && next_step_ <= block_first_ + block_steps_,
                   "the noise source gave the block of another step");
  units_.resize(block_steps_ * dimension_);
  grid_.round_noise(block.z, units_);
}

noise::GridNoise NoiseFeed::take(std::size_t steps_max) {
  // The first block is drawn here and not before: a stream that is at its horizon has none left.
  if (!drawn_ || next_step_ == block_first_ + block_steps_) next_block();
  const std::size_t offset = next_step_ - block_first_;
  const std::size_t steps = std::min(steps_max, block_steps_ - offset);
  const noise::GridNoise slice{StepIndex{next_step_}, dimension_,
                               std::span(units_).subspan(offset * dimension_, steps * dimension_)};
  next_step_ += steps;
  return slice;
}

noise::Checkpoint NoiseFeed::checkpoint() const {
  return source_.checkpoint(StepIndex{next_step_});
}

}  // namespace nustream::engine
