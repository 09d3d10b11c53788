// The noise source: what it draws, what it refuses, and what its checkpoints hold.
#include <gtest/gtest.h>

#include <bit>
#include <numeric>
#include <vector>

#include "noise/key_ring.h"
#include "noise/seed_noise.h"
#include "nustream/base/error.h"
#include "nustream/noise/source.h"
#include "support/noise_glass.h"
#include "support/noise_key_example.h"

namespace nustream::noise {
namespace {

using testing::example_epoch_key;
using testing::example_stage;

NoiseSource source(const Correlation& correlation, std::size_t dimension, const Checkpoint& checkpoint,
                   std::uint64_t next_step = 0, GeneratorKind kind = GeneratorKind::automatic) {
  return {correlation, kind, dimension, checkpoint, StepIndex{next_step}};
}

Segment only_segment(const Checkpoint& checkpoint) {
  EXPECT_EQ(checkpoint.segments.size(), 1U);
  return checkpoint.segments.front();
}

Checkpoint fresh() {
  return first_checkpoint(example_epoch_key(), example_stage());
}

TEST(StepsPerBlock, IsAPowerOfTwoAndAbout16384Samples) {
  for (std::size_t dimension = 1; dimension < 3000; ++dimension) {
    const std::size_t steps = steps_per_block(dimension);
    EXPECT_TRUE(std::has_single_bit(steps));
    EXPECT_GE(steps, 16U);
    if (steps > 16) {
      EXPECT_LE(steps * dimension, 16384U);
      EXPECT_GT(2 * steps * dimension, 16384U);
    }
  }
  EXPECT_EQ(steps_per_block(1), 16384U);
  EXPECT_EQ(steps_per_block(10), 1024U);
  EXPECT_EQ(steps_per_block(std::size_t{1} << 40), 16U);
  EXPECT_THROW(static_cast<void>(steps_per_block(0)), InvalidParameter);
}

// Independent noise is the seed noise itself: sample (t − block start)·d + j of the block's key.
TEST(NoiseSource, DrawsTheAddressedSamples) {
  const std::size_t dimension = 10;
  const std::size_t steps = steps_per_block(dimension);
  auto noise = source(Correlation{Independent{}}, dimension, fresh());
  KeyRing keys(fresh().segments, steps, std::pmr::get_default_resource());
  for (std::uint64_t number = 0; number < 3; ++number) {
    const auto block = noise.next();
    ASSERT_EQ(block.first, StepIndex{number * steps});
    ASSERT_EQ(block.steps, steps);
    ASSERT_EQ(block.z.size(), steps * dimension);
    for (std::size_t sample = 0; sample < block.z.size(); sample += 501) {
      ASSERT_EQ(block.z[sample], seed_sample(keys.cipher_key(number * steps), sample));
    }
  }
}

TEST(NoiseSource, GivesTheBlockOfTheNextStepFirst) {
  auto noise = source(Correlation{Independent{}}, 10, fresh(), 5000);
  EXPECT_EQ(noise.next().first, StepIndex{4096});
}

TEST(NoiseSource, NamesTheKindInUse) {
  EXPECT_EQ(source(Correlation{Independent{}}, 1, fresh()).kind(), GeneratorKind::recurrent);
  EXPECT_EQ(source(Correlation{Independent{}}, 1, fresh(), 0, GeneratorKind::direct).kind(), GeneratorKind::direct);
  EXPECT_EQ(source(Correlation{Tree{4, Tree::Estimator::plain, true}}, 1, fresh()).kind(), GeneratorKind::tree);
}

TEST(NoiseSource, RefusesExactNuWithoutAHorizonAndSaysWhatToUse) {
  try {
    static_cast<void>(source(Correlation{NuFtrl{Damping{0.01}, {}}}, 1, fresh()));
    FAIL() << "expected a refusal";
  } catch (const Unsupported& refusal) {
    EXPECT_NE(std::string(refusal.what()).find("rational"), std::string::npos);
  }
}

// The last block of a finite horizon ends with the horizon: noise past it would be in nobody's account.
TEST(NoiseSource, EndsAtTheHorizon) {
  auto noise = source(Correlation{AntiPgd{StepCount{20'000}}}, 1, fresh());
  EXPECT_EQ(noise.next().steps, 16384U);
  const auto last = noise.next();
  EXPECT_EQ(last.steps, 20'000U - 16'384U);
  EXPECT_EQ(last.z.size(), last.steps);
  EXPECT_THROW(static_cast<void>(noise.next()), Unsupported);
  EXPECT_THROW(static_cast<void>(noise.next()), Unsupported);
  EXPECT_EQ(only_segment(noise.checkpoint(StepIndex{20'000})).first, StepIndex{0});
}

// Forward secrecy: the checkpoint of a rational correlation opens nothing before the block of its next step.
TEST(NoiseSource, ChecksPointAtTheBlockOfTheNextStep) {
  const std::size_t dimension = 100;
  const std::size_t steps = steps_per_block(dimension);
  auto noise = source(Correlation{Rational::nu_ftrl(Damping{1e-3}, 5)}, dimension, fresh());
  KeyRing keys(fresh().segments, steps, std::pmr::get_default_resource());
  static_cast<void>(keys.cipher_key(10 * steps));
  EXPECT_EQ(only_segment(noise.checkpoint(StepIndex{0})).chain_key, only_segment(fresh()).chain_key);
  for (std::uint64_t given = 1; given <= 6; ++given) {
    static_cast<void>(noise.next());
    for (const std::uint64_t back : {0U, 1U, 2U}) {
      if (back > given) continue;
      const std::uint64_t block = given - back;
      for (const std::uint64_t within : {std::size_t{0}, steps - 1}) {
        if (back == 0 && within > 0) continue;
        const auto checkpoint = noise.checkpoint(StepIndex{block * steps + within});
        EXPECT_EQ(only_segment(checkpoint).first.value(), block * steps);
        EXPECT_EQ(only_segment(checkpoint).chain_key, keys.chain_key(block * steps));
        EXPECT_EQ(checkpoint.memory.size(), 5 * dimension);
      }
    }
  }
}

// A key is in memory from its derivation to the last checkpoint that may need it, and not longer.
TEST(NoiseSource, WipesTheKeysThatNoCheckpointNeeds) {
  testing::Glass glass;
  std::vector<KeyBytes> keys;
  KeyRing ring(fresh().segments, 1, std::pmr::get_default_resource());  // blocks of one step have the same keys
  for (std::uint64_t block = 0; block < 12; ++block) {
    static_cast<void>(ring.cipher_key(block));
    keys.push_back(ring.chain_key(block));
  }
  {
    NoiseSource noise(Correlation{Rational::nu_ftrl(Damping{1e-3}, 5)}, GeneratorKind::automatic, 10, fresh(),
                      StepIndex{0}, &glass);
    for (std::uint64_t given = 1; given < 10; ++given) {
      static_cast<void>(noise.next());
      for (std::uint64_t block = 0; block <= given; ++block) {
        EXPECT_EQ(glass.shows(keys[block]), block + 2 >= given) << "block " << block << " after " << given;
      }
    }
  }
  for (const auto& key : keys) EXPECT_FALSE(glass.shows(key));
}

TEST(NoiseSourceDeathTest, KeepsNoOlderCheckpoint) {
  auto noise = source(Correlation{Independent{}}, 1, fresh());
  for (int block = 0; block < 3; ++block) static_cast<void>(noise.next());
  EXPECT_EQ(only_segment(noise.checkpoint(StepIndex{16384})).first, StepIndex{16384});
  EXPECT_DEATH(static_cast<void>(noise.checkpoint(StepIndex{16383})), "contract violated");
  EXPECT_DEATH(static_cast<void>(noise.checkpoint(StepIndex{4 * 16384})), "contract violated");
}

TEST(NoiseSource, RefusesACheckpointOfAnother) {
  const Correlation rational{Rational::nu_ftrl(Damping{1e-3}, 5)};
  Checkpoint later = fresh();
  later.segments.front().first = StepIndex{2 * 16384};
  later.memory.resize(5);
  EXPECT_THROW(static_cast<void>(source(rational, 1, later, 0)), InvalidParameter);
  EXPECT_NO_THROW(static_cast<void>(source(rational, 1, later, 2 * 16384)));
  EXPECT_THROW(static_cast<void>(source(rational, 2, later, 2 * 8192)), InvalidParameter);
  later.memory.clear();
  EXPECT_THROW(static_cast<void>(source(rational, 1, later, 2 * 16384)), InvalidParameter);
  // A window that reaches back before the oldest key cannot be restored.
  Checkpoint too_late = fresh();
  too_late.segments.front().first = StepIndex{16384};
  EXPECT_THROW(static_cast<void>(source(Correlation{DampedAntiPgd{Damping{0.1}}}, 1, too_late, 16384)),
               InvalidParameter);
}

TEST(NoiseSource, GoesOnAfterBeingMoved) {
  auto noise = source(Correlation{Independent{}}, 3, fresh());
  auto twin = source(Correlation{Independent{}}, 3, fresh());
  static_cast<void>(noise.next());
  static_cast<void>(twin.next());
  NoiseSource moved = std::move(noise);
  EXPECT_EQ(moved.next().z[7], twin.next().z[7]);
}

}  // namespace
}  // namespace nustream::noise
