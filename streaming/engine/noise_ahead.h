// Noise for a lane, generated one block ahead by another thread, so that the event loop never computes it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>

#include "config/mechanism.h"
#include "engine/noise_supply.h"

namespace nustream::engine {

/// Gives exactly what a NoiseFeed gives, later: take() is empty while a block is on its way. All calls from one
/// thread, the loop's; the blocks are made where `run` runs them. Outlives no work: the destructor waits for the
/// block in work.
class NoiseAhead final : public NoiseSupply {
 public:
  /// Runs work on another thread, one piece of a NoiseAhead at a time.
  using Run = std::function<void(std::function<void()> work)>;
  /// Called on the other thread when a block that take() missed is there: posts to the loop, and calls nothing of
  /// this object. Never called once the destructor has returned.
  using Wake = std::function<void()>;

  /// Goes on at `next_step` from checkpoints that cover it, one a stage. Keys live in memory from `secrets`. The
  /// first block is asked for at once. `healing`: of each stage; called on the other thread. What it throws is thrown
  /// by the next take(). Failure as NoiseFeed.
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
