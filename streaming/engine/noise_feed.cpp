// Draws noise stage by stage: a source gives blocks of z = B w (docs/formats/noise.md), which are rounded to the
// stage's grid once and handed out in slices. Stages have keys of their own, so that their noise is independent.
#include "engine/noise_feed.h"

#include <algorithm>
#include <string>

#include "error.h"
#include "nustream/base/error.h"

namespace nustream::engine {

namespace {

/// The noise source of one stage, at `next_step`. It is made from a copy of the checkpoint, whose keys are wiped
/// before this returns.
noise::NoiseSource source_of(const config::CalibratedStage& stage, const journal::NoiseCheckpoints& checkpoints,
                             std::size_t number, StepIndex next_step, std::pmr::memory_resource* secrets,
                             const noise::Healing& healing, std::optional<StepCount> end) {
  // A destructor wipes the copy also where the source refuses it.
  struct Wiped {
    noise::Checkpoint checkpoint;
    ~Wiped() { journal::wipe(checkpoint); }
  } const from{journal::in_steps(checkpoints, number, stage.dimension)};
  try {
    return {stage.correlation, stage.generator, stage.dimension, from.checkpoint, next_step, secrets, end, healing};
  } catch (const Unsupported& error) {
    throw Failure(Exit::data, std::string(error.what()) + " with --new-epoch");
  }
}

}  // namespace

bool can_be_resumed(const journal::NoiseCheckpoints& checkpoints, StepIndex next_step) {
  return std::ranges::none_of(checkpoints.stages, [&](const noise::Checkpoint& stage) {
    // A resume begins another segment, unless the last one begins at this very step.
    return stage.segments.size() >= noise::segments_max && stage.segments.back().first != next_step;
  });
}

bool noise_is_used_up(const config::Mechanism& mechanism, const journal::NoiseCheckpoints& checkpoints,
                      StepCount steps) {
  return mechanism.horizon() == steps || !can_be_resumed(checkpoints, StepIndex{steps.value()});
}

journal::NoiseCheckpoints noise_of_new_epoch(const secrets::Keyring& keys, const std::string& stream, LaneId lane,
                                             EpochId epoch, const config::Mechanism& mechanism) {
  noise::KeyBytes key = keys.epoch_key(stream);
  journal::NoiseCheckpoints first = journal::first_checkpoints(key, lane, epoch, mechanism.stages.size());
  noise::wipe(key);
  return first;
}

NoiseFeed::NoiseFeed(const config::Mechanism& mechanism, const journal::NoiseCheckpoints& checkpoints,
                     StepIndex next_step, std::pmr::memory_resource* secrets, const noise::Healing& healing,
                     std::optional<StepCount> end)
    : next_step_(next_step.value()) {
  NUSTREAM_REQUIRE(checkpoints.stages.size() == mechanism.stages.size(), "every stage has its own checkpoint");
  stages_.reserve(mechanism.stages.size());
  for (std::size_t i = 0; i < mechanism.stages.size(); ++i) {
    const config::CalibratedStage& stage = mechanism.stages[i];
    stages_.push_back(
        {source_of(stage, checkpoints, i, next_step, secrets, healing, end), mechanism.grids[i], stage.dimension});
  }
}

void NoiseFeed::Stage::next_block(std::uint64_t next_step) {
  const noise::CorrelatedBlock block = source.next();
  first = block.first.value();
  end = first + block.steps;
  NUSTREAM_REQUIRE(next_step >= first && next_step < end, "the noise source gave the block of another step");
  units.resize(block.steps * dimension);
  grid.round_noise(block.z, units);
}

std::span<const noise::GridNoise> NoiseFeed::take(std::size_t steps_max) {
  // A block is drawn only when one of its steps is asked for, because a stream at its horizon has no block left to
  // draw. Stages have different dimensions, and so blocks of different lengths. The slice ends where the first of the
  // blocks ends.
  std::uint64_t end = next_step_ + steps_max;
  for (Stage& stage : stages_) {
    if (next_step_ >= stage.end) stage.next_block(next_step_);
    end = std::min(end, stage.end);
  }
  const auto steps = static_cast<std::size_t>(end - next_step_);
  slices_.clear();
  for (const Stage& stage : stages_) {
    const auto offset = static_cast<std::size_t>(next_step_ - stage.first);
    slices_.push_back({StepIndex{next_step_}, stage.dimension,
                       std::span(stage.units).subspan(offset * stage.dimension, steps * stage.dimension)});
  }
  next_step_ = end;
  return slices_;
}

journal::NoiseCheckpoints NoiseFeed::checkpoints() const {
  return checkpoints_at(StepIndex{next_step_});
}

journal::NoiseCheckpoints NoiseFeed::checkpoints_at(StepIndex step) const {
  journal::NoiseCheckpoints all;
  all.stages.reserve(stages_.size());
  // Each stage has its own block, and so is asked for the segments that cover this step.
  for (const Stage& stage : stages_) all.stages.push_back(stage.source.checkpoint(step));
  return all;
}

journal::NoiseCheckpoints NoiseFeed::largest_checkpoints() const {
  journal::NoiseCheckpoints all = checkpoints();
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    auto& segments = all.stages[i].segments;
    // The keys are wiped first, because a vector that grows leaves a copy of its elements behind in freed memory.
    for (noise::Segment& segment : segments) noise::wipe(segment.chain_key);
    segments.resize(stages_[i].source.most_segments());
  }
  return all;
}

}  // namespace nustream::engine
