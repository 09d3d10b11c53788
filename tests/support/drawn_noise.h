// Which of the bytes that a test saw drawn are in the noise of a state: those that its epoch began with, and those
// that later segments mixed in.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

#include "config/mechanism.h"
#include "engine/noise_feed.h"
#include "journal/state_record.h"

namespace nustream::tests {

/// The 256 bits that the noise of the state, which is still at step 0, begins with in its own lane and epoch. They
/// are exactly one of those that were drawn, and all stages share them. Empty where they are none of those.
inline std::optional<noise::KeyBytes> drawn_key_of(const journal::State& state,
                                                   const std::vector<noise::KeyBytes>& drawn) {
  std::optional<noise::KeyBytes> found;
  for (const noise::KeyBytes& key : drawn) {
    bool is_it = true;
    for (std::size_t stage = 0; stage < state.record.noise.stages.size(); ++stage) {
      const noise::Checkpoint& kept = state.record.noise.stages[stage];
      const noise::Checkpoint first = noise::first_checkpoint(
          key, {state.identity.lane, state.identity.epoch, static_cast<std::uint32_t>(stage)});
      is_it = is_it && kept.segments.size() == 1 && kept.segments.front().first == StepIndex{0} &&
              kept.segments.front().chain_key == first.segments.front().chain_key;
    }
    if (!is_it) continue;
    EXPECT_FALSE(found) << "the same bits were handed out twice";
    found = key;
  }
  return found;
}

/// What a state at `steps` keeps of the noise, where a run goes on to there from the state `before`.
inline journal::NoiseCheckpoints noise_gone_on(const config::Mechanism& mechanism, const journal::State& before,
                                               StepCount steps, const noise::Healing& healing) {
  std::uint64_t step = before.identity.steps.value();
  engine::NoiseFeed feed(mechanism, before.record.noise, StepIndex{step}, std::pmr::get_default_resource(), healing);
  while (step < steps.value()) step += engine::steps_in(feed.take(steps.value() - step));
  return feed.checkpoints();
}

inline bool are_same_segments(const journal::NoiseCheckpoints& a, const journal::NoiseCheckpoints& b) {
  return std::ranges::equal(a.stages, b.stages, [](const noise::Checkpoint& one, const noise::Checkpoint& other) {
    return std::ranges::equal(one.segments, other.segments, [](const noise::Segment& x, const noise::Segment& y) {
      return x.first == y.first && x.chain_key == y.chain_key;
    });
  });
}

/// What the segments have mixed in that began between two states of one run, each 256 bits of `drawn`, and in the
/// order in which these were drawn. `resumed`: the run went on from the first of the two states. Empty where no
/// choice of `drawn` leads from the one state to the other.
inline std::optional<std::vector<noise::KeyBytes>> mixed_in(const config::Mechanism& mechanism,
                                                            const journal::State& before, const journal::State& after,
                                                            bool resumed, const std::vector<noise::KeyBytes>& drawn) {
  std::size_t segments = 0;
  const noise::Healing counted{[&segments](std::span<std::uint8_t>) { ++segments; }, resumed};
  static_cast<void>(noise_gone_on(mechanism, before, after.identity.steps, counted));
  if (segments > drawn.size()) return std::nullopt;
  // Other things were drawn as well, and nothing says which draws are the noise's. So every choice is tried: they are
  // few.
  std::vector<int> is_chosen(drawn.size(), 0);
  std::fill_n(is_chosen.begin(), segments, 1);
  do {
    std::vector<noise::KeyBytes> chosen;
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      if (is_chosen[i] == 1) chosen.push_back(drawn[i]);
    }
    std::size_t next = 0;
    const noise::Healing healing{
        [&](std::span<std::uint8_t> bytes) { std::ranges::copy(chosen.at(next++), bytes.begin()); }, resumed};
    const auto reached = noise_gone_on(mechanism, before, after.identity.steps, healing);
    if (are_same_segments(reached, after.record.noise)) return chosen;
  } while (std::ranges::prev_permutation(is_chosen).found);
  return std::nullopt;
}

}  // namespace nustream::tests
