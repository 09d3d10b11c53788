// Noise made ahead by another thread against noise made at once: the same bits, the same checkpoints, in any slicing.
#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

#include "config/config.h"
#include "engine/noise_ahead.h"
#include "engine/noise_feed.h"
#include "nustream/base/error.h"
#include "secrets/locked_memory.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

/// What a loop does: sleeps until it is woken.
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
    EXPECT_EQ(left.stages[i].block, right.stages[i].block);
    EXPECT_TRUE(left.stages[i].chain_key == right.stages[i].chain_key);
    EXPECT_TRUE(left.stages[i].memory == right.stages[i].memory);
  }
}

/// Takes `steps` steps in random slices from both and compares; restarts from the checkpoint now and then.
void compare(const config::Mechanism& mechanism, std::uint64_t steps, std::uint64_t seed) {
  secrets::LockedMemory locked;
  const noise::KeyBytes key{1, 2, 3};
  const journal::NoiseCheckpoints first =
      journal::first_checkpoints(key, LaneId{0}, EpochId{0}, mechanism.stages.size());
  engine::NoiseFeed feed(mechanism, first, StepIndex{0}, &locked);
  Loop loop;
  const auto from = [&](const journal::NoiseCheckpoints& checkpoints, std::uint64_t step) {
    return std::make_unique<engine::NoiseAhead>(mechanism, checkpoints, StepIndex{step}, &locked, on_a_thread(),
                                                [&loop] { loop.wake(); });
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
                            // Three stages, whose blocks end at different steps.
                            "average = \"tail\"\n[intervals]\nkind = \"sandwich\"\nsecond_moment_clip = 4\n"
                            "squared_residual_clip = 4\n[noise]\nnu = 0.01\n"}) {
    SCOPED_TRACE(noise);
    const config::Config config = settings(folder, noise);
    const config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
    const auto horizon = mechanism.horizon();
    compare(mechanism, horizon ? std::min<std::uint64_t>(horizon->value(), 60000) : 60000, seed++);
  }
}

TEST(NoiseAhead, CanBeDroppedWhileABlockIsOnItsWay) {
  const TemporaryFolder folder;
  const config::Config config = settings(folder, "[noise]\nnu = 0.01\n");
  const config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
  secrets::LockedMemory locked;
  const journal::NoiseCheckpoints first = journal::first_checkpoints({1}, LaneId{0}, EpochId{0}, 1);
  std::atomic<int> woken = 0;
  for (int i = 0; i < 50; ++i) {
    engine::NoiseAhead ahead(mechanism, first, StepIndex{0}, &locked, on_a_thread(), [&woken] { ++woken; });
    static_cast<void>(ahead.take(10));
  }
  EXPECT_LE(woken.load(), 50);
}

}  // namespace
}  // namespace nustream::tests
