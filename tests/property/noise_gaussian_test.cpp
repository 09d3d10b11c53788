// A sample of seed noise is a function of (key of the block, sample index) alone: any range of samples, asked for in
// any order, equals the samples computed one by one.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "noise/seed_noise.h"
#include "support/noise_key_example.h"

namespace nustream::noise {
namespace {

TEST(SeedNoiseProperty, AnyRangeEqualsTheSamplesComputedAlone) {
  std::mt19937_64 random(20);
  for (int trial = 0; trial < 60; ++trial) {
    const std::size_t width = 1 + random() % 40;
    const std::size_t block_steps = std::size_t{16} << (random() % 5);
    const Checkpoint start = first_checkpoint(testing::example_epoch_key(), {LaneId{1}, EpochId{2}, 3});
    KeyRing twin_keys(start.segments, block_steps, std::pmr::get_default_resource());
    KeyRing keys(start.segments, block_steps, std::pmr::get_default_resource());
    const auto& sets = available_instruction_sets();
    KeyedSeedNoise noise(keys, width, sets[random() % sets.size()]);
    for (int range = 0; range < 6; ++range) {
      const std::size_t first = random() % (4 * block_steps);
      const std::size_t steps = random() % (2 * block_steps) + 1;
      std::vector<double> samples(steps * width);
      noise.fill(StepIndex{first}, steps, samples);
      for (int probe = 0; probe < 40; ++probe) {
        const std::size_t at = probe == 0 ? 0 : probe == 1 ? samples.size() - 1 : random() % samples.size();
        const std::size_t step = first + at / width;
        const std::size_t index = step % block_steps * width + at % width;
        ASSERT_EQ(samples[at], seed_sample(twin_keys.cipher_key(step), index))
            << "width " << width << ", step " << step << ", coordinate " << at % width;
      }
    }
  }
}

}  // namespace
}  // namespace nustream::noise
