// Noise for a lane that another thread generates one block ahead, so that the event loop never has to compute it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>

#include "config/mechanism.h"
#include "engine/noise_feed.h"

namespace nustream::engine {

/// Gives exactly the noise of a NoiseFeed, but perhaps later: take() gives no step while a block is being made. All
/// calls come from one thread, the loop's; blocks are made where `run` runs them. The destructor waits for the block
/// that is being made.
class NoiseAhead final : public NoiseSupply {
 public:
  /// Runs `work` on another thread. A NoiseAhead asks for one piece of work at a time.
  using Run = std::function<void(std::function<void()> work)>;
  /// Called on the other thread when a block is there that take() had to do without. It should post to the loop, and
  /// must not call this object itself. It is never called once the destructor has returned.
  using Wake = std::function<void()>;

  /// Goes on at `next_step` from `checkpoints`, one for each stage, which cover that step. Keys are kept in memory
  /// from `secrets`. The first block is asked for at once. Every stage uses `healing`, which is called on the other
  /// thread; if it throws, the next take() throws the same. Throws as NoiseFeed.
  NoiseAhead(const config::Mechanism& mechanism, const journal::NoiseCheckpoints& checkpoints, StepIndex next_step,
             std::pmr::memory_resource* secrets, const noise::Healing& healing, Run run, Wake wake);
  ~NoiseAhead() override;
  NoiseAhead(const NoiseAhead&) = delete;
  NoiseAhead& operator=(const NoiseAhead&) = delete;

  [[nodiscard]] std::span<const noise::GridNoise> take(std::size_t steps_max) override;
  [[nodiscard]] journal::NoiseCheckpoints checkpoints() const override;
  /// Steps whose noise is ready.
  [[nodiscard]] std::size_t ready() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace nustream::engine
