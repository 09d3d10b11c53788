// Noise that another thread makes ahead against noise made when it is asked for: the same bits and the same
// checkpoints, however the steps are sliced.
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

#include "config/config.h"
#include "engine/noise_ahead.h"
#include "engine/noise_feed.h"
#include "error.h"
#include "nustream/base/error.h"
#include "secrets/locked_memory.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

/// Stands for a loop of the service: it sleeps until it is woken.
class Loop {
 public:
  void wake() {
    const std::lock_guard hold(mutex_);
    woken_ = true;
    condition_.notify_one();
  }
  void sleep() {
    std::unique_lock hold(mutex_);
    condition_.wait(hold, [this] { return woken_; });
    woken_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool woken_ = false;
};

config::Config settings(const TemporaryFolder& folder, const std::string& noise) {
  const std::string file = folder.write("c.toml", R"([stream]
name = "s"
[target]
column = "y"
[[features]]
column = "x"
[privacy]
rho = 0.5
delta = 1e-6
[descent]
step_size = 0.01
clip_norm = 1.0
)" + noise);
  return config::read_config(file, {});
}

engine::NoiseAhead::Run on_a_thread() {
  return [](const std::function<void()>& work) { std::thread(work).detach(); };
}

void expect_same(const journal::NoiseCheckpoints& left, const journal::NoiseCheckpoints& right) {
  ASSERT_EQ(left.stages.size(), right.stages.size());
  for (std::size_t i = 0; i < left.stages.size(); ++i) {
    ASSERT_EQ(left.stages[i].segments.size(), right.stages[i].segments.size());
    for (std::size_t j = 0; j < left.stages[i].segments.size(); ++j) {
      EXPECT_EQ(left.stages[i].segments[j].first, right.stages[i].segments[j].first);
      EXPECT_TRUE(left.stages[i].segments[j].chain_key == right.stages[i].segments[j].chain_key);
    }
    EXPECT_TRUE(left.stages[i].memory == right.stages[i].memory);
  }
}

/// Fresh bytes that follow from a number, so that two feeds with the same number mix in the same bytes.
noise::Healing scripted(std::uint64_t number, bool resumed) {
  return {[random = std::mt19937_64(number)](std::span<std::uint8_t> bytes) mutable {
            for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
          },
          resumed};
}

/// Takes `steps` steps in random slices from both feeds and compares them; now and then both restart from the
/// checkpoint.
void compare(const config::Mechanism& mechanism, std::uint64_t steps, std::uint64_t seed) {
  secrets::LockedMemory locked;
  const noise::KeyBytes key{1, 2, 3};
  const journal::NoiseCheckpoints first =
      journal::first_checkpoints(key, LaneId{0}, EpochId{0}, mechanism.stages.size());
  engine::NoiseFeed feed(mechanism, first, StepIndex{0}, &locked, {});
  Loop loop;
  const auto from = [&](const journal::NoiseCheckpoints& checkpoints, std::uint64_t step) {
    return std::make_unique<engine::NoiseAhead>(mechanism, checkpoints, StepIndex{step}, &locked, noise::Healing{},
                                                on_a_thread(), [&loop] { loop.wake(); });
  };
  auto ahead = from(first, 0);
  std::mt19937_64 bits(seed);
  for (std::uint64_t done = 0; done < steps;) {
    if (bits() % 50 == 0) ahead = from(ahead->checkpoints(), done);
    const auto slice = ahead->take(std::min<std::uint64_t>(1 + bits() % 3000, steps - done));
    const std::size_t taken = engine::steps_in(slice);
    if (taken == 0) {
      loop.sleep();
      continue;
    }
    for (std::size_t i = 0; i < taken;) {
      const auto twins = feed.take(taken - i);
      ASSERT_EQ(twins.size(), slice.size());
      for (std::size_t stage = 0; stage < twins.size(); ++stage) {
        const noise::GridNoise& twin = twins[stage];
        ASSERT_EQ(twin.first.value(), done + i);
        ASSERT_EQ(twin.dimension, slice[stage].dimension);
        ASSERT_TRUE(std::equal(twin.units.begin(), twin.units.end(),
                               slice[stage].units.begin() + static_cast<std::ptrdiff_t>(i * twin.dimension)));
      }
      i += engine::steps_in(twins);
    }
    done += taken;
    expect_same(ahead->checkpoints(), feed.checkpoints());
  }
}

TEST(NoiseAhead, GivesWhatNoiseMadeAtOnceGives) {
  const TemporaryFolder folder;
  std::uint64_t seed = 1;
  for (const char* noise : {"[noise]\nnu = 0.01\n", "[noise]\ncorrelation = \"independent\"\n",
                            "[noise]\ncorrelation = \"windowed\"\nnu = 0.01\nwindow = 300\nhorizon = 60000\n",
                            "[noise]\ncorrelation = \"nu\"\nnu = 0.01\nhorizon = 40000\ngenerator = \"fft\"\n",
                            "[noise]\ncorrelation = \"tree\"\nheight = 15\n",
                            // These settings have three stages, whose blocks end at different steps.
                            "average = \"tail\"\n[intervals]\nkind = \"sandwich\"\nsecond_moment_clip = 4\n"
                            "squared_residual_clip = 4\n[noise]\nnu = 0.01\n"}) {
    SCOPED_TRACE(noise);
    const config::Config config = settings(folder, noise);
    const config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
    const auto horizon = mechanism.horizon();
    compare(mechanism, horizon ? std::min<std::uint64_t>(horizon->value(), 60000) : 60000, seed++);
  }
}

config::Mechanism mechanism_of(const TemporaryFolder& folder, const std::string& noise) {
  return config::make_mechanism(settings(folder, noise), privacy::Participation::once());
}

constexpr const char* of_three_stages =
    "average = \"tail\"\n[intervals]\nkind = \"sandwich\"\nsecond_moment_clip = 4\nsquared_residual_clip = 4\n"
    "[noise]\nnu = 0.01\n";

std::span<const noise::GridNoise> taken(engine::NoiseSupply& supply, Loop& loop, std::size_t steps) {
  while (true) {
    const auto slice = supply.take(steps);
    if (engine::steps_in(slice) > 0) return slice;
    loop.sleep();
  }
}

// A state that is written after any step opens the rest of the block of its next step, as the run itself has it: the
// state holds the segment of that step. Behind the block, fresh bytes are mixed in that the state does not hold.
TEST(NoiseAhead, KeepsTheSegmentOfTheNextStep) {
  const TemporaryFolder folder;
  std::uint64_t seed = 90;
  for (const char* noise :
       {"[noise]\nnu = 0.01\n", "[noise]\ncorrelation = \"tree\"\nheight = 17\n",
        "[noise]\ncorrelation = \"windowed\"\nnu = 0.01\nwindow = 300\nhorizon = 100000\ngenerator = \"direct\"\n",
        of_three_stages}) {
    SCOPED_TRACE(noise);
    const config::Mechanism mechanism = mechanism_of(folder, noise);
    secrets::LockedMemory locked;
    Loop loop;
    engine::NoiseAhead ahead(mechanism,
                             journal::first_checkpoints({4, 5}, LaneId{0}, EpochId{0}, mechanism.stages.size()),
                             StepIndex{0}, &locked, scripted(seed, false), on_a_thread(), [&loop] { loop.wake(); });
    std::mt19937_64 bits(seed++);
    std::uint64_t done = 0;
    int healed = 0;
    for (int round = 0; round < 24; ++round) {
      // Every other round asks for more steps than a block has: what is taken is then cut at the block's end.
      done += engine::steps_in(taken(ahead, loop, round % 2 == 0 ? 1 + bits() % 4000 : 100'000));
      engine::NoiseFeed copy(mechanism, ahead.checkpoints(), StepIndex{done}, &locked, {});
      const auto own = taken(ahead, loop, 1);
      const auto opened = copy.take(1);
      for (std::size_t i = 0; i < mechanism.stages.size(); ++i) {
        const bool is_border = done % noise::steps_per_block(mechanism.stages[i].dimension) == 0;
        EXPECT_EQ(std::ranges::equal(own[i].units, opened[i].units), !is_border) << "stage " << i << " step " << done;
        if (is_border) ++healed;
      }
      ++done;
    }
    EXPECT_GE(healed, 3);
  }
}

// The same with fresh bytes: noise made ahead equals noise made at once, and so do the states.
TEST(NoiseAhead, MixesInWhatNoiseMadeAtOnceMixesIn) {
  const TemporaryFolder folder;
  const config::Mechanism mechanism = mechanism_of(folder, of_three_stages);
  secrets::LockedMemory locked;
  const auto first = journal::first_checkpoints({6}, LaneId{0}, EpochId{0}, mechanism.stages.size());
  Loop loop;
  std::uint64_t step = 0;
  journal::NoiseCheckpoints state = first.clone();
  for (const bool resumed : {false, true, true}) {
    engine::NoiseFeed feed(mechanism, state, StepIndex{step}, &locked, scripted(91, resumed));
    engine::NoiseAhead ahead(mechanism, state, StepIndex{step}, &locked, scripted(91, resumed), on_a_thread(),
                             [&loop] { loop.wake(); });
    for (const std::uint64_t end = step + 20'000; step < end;) {
      const auto slice = taken(ahead, loop, 777);
      const std::size_t steps = engine::steps_in(slice);
      const auto twins = feed.take(steps);
      ASSERT_EQ(engine::steps_in(twins), steps);
      for (std::size_t i = 0; i < twins.size(); ++i) ASSERT_TRUE(std::ranges::equal(slice[i].units, twins[i].units));
      step += steps;
      expect_same(ahead.checkpoints(), feed.checkpoints());
    }
    state = ahead.checkpoints();
  }
}

TEST(NoiseAhead, ThrowsWhereThereAreNoFreshBytes) {
  const TemporaryFolder folder;
  const config::Mechanism mechanism = mechanism_of(folder, "[noise]\nnu = 0.01\n");
  secrets::LockedMemory locked;
  Loop loop;
  const noise::Healing none{[](std::span<std::uint8_t>) { throw Failure(Exit::permission, "no random bits"); },
                            false};
  engine::NoiseAhead ahead(mechanism, journal::first_checkpoints({7}, LaneId{0}, EpochId{0}, 1), StepIndex{0},
                           &locked, none, on_a_thread(), [&loop] { loop.wake(); });
  const std::uint64_t block = noise::steps_per_block(mechanism.stages[0].dimension);
  EXPECT_EQ(engine::steps_in(taken(ahead, loop, block)), block);
  try {
    static_cast<void>(taken(ahead, loop, 1));
    FAIL() << "noise without fresh bytes";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), Exit::permission);
  }
  EXPECT_EQ(ahead.checkpoints().stages.at(0).segments.at(0).first, StepIndex{block});
}

// States of an earlier version hold the number of a block and no segments. They are read as one segment into which
// nothing was mixed.
TEST(NoiseFeed, GoesOnFromAStateThatCountsBlocks) {
  const TemporaryFolder folder;
  const config::Mechanism mechanism = mechanism_of(folder, of_three_stages);
  const auto first = journal::first_checkpoints({8}, LaneId{0}, EpochId{0}, mechanism.stages.size());
  engine::NoiseFeed feed(mechanism, first, StepIndex{0}, std::pmr::get_default_resource(), {});
  std::uint64_t step = 0;
  while (step < 30'000) step += engine::steps_in(feed.take(700));
  journal::NoiseCheckpoints state = feed.checkpoints();
  for (std::size_t i = 0; i < mechanism.stages.size(); ++i) {
    noise::Segment& segment = state.stages[i].segments.front();
    segment.first = StepIndex{segment.first.value() / noise::steps_per_block(mechanism.stages[i].dimension)};
  }
  state.in_blocks = true;
  engine::NoiseFeed resumed(mechanism, state, StepIndex{step}, std::pmr::get_default_resource(), {});
  const auto twins = feed.take(50);
  const auto slice = resumed.take(50);
  for (std::size_t i = 0; i < twins.size(); ++i) EXPECT_TRUE(std::ranges::equal(slice[i].units, twins[i].units));
}

TEST(NoiseAhead, CanBeDroppedWhileABlockIsOnItsWay) {
  const TemporaryFolder folder;
  const config::Config config = settings(folder, "[noise]\nnu = 0.01\n");
  const config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
  secrets::LockedMemory locked;
  const journal::NoiseCheckpoints first = journal::first_checkpoints({1}, LaneId{0}, EpochId{0}, 1);
  std::atomic<int> woken = 0;
  for (int i = 0; i < 50; ++i) {
    engine::NoiseAhead ahead(mechanism, first, StepIndex{0}, &locked, noise::Healing{}, on_a_thread(),
                             [&woken] { ++woken; });
    static_cast<void>(ahead.take(10));
  }
  EXPECT_LE(woken.load(), 50);
}

}  // namespace
}  // namespace nustream::tests
