// A source that restarts from any checkpoint gives the noise of the run that was not interrupted. A checkpoint holds
// no key older than its next step needs, and the source has wiped the keys before.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "noise/generator.h"
#include "noise/key_ring.h"
#include "nustream/noise/source.h"
#include "support/noise_key_example.h"

namespace nustream::noise {
namespace {

using Random = std::mt19937_64;

double uniform(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

struct Setting {
  Correlation correlation;
  GeneratorKind kind;
};

std::vector<double> random_window(Random& random) {
  std::vector<double> beta{1};
  const std::size_t terms = random() % 100;
  for (std::size_t t = 0; t < terms; ++t) beta.push_back(uniform(random, -0.9, 0.1) / static_cast<double>(terms));
  return beta;
}

Setting random_setting(Random& random, std::uint64_t steps) {
  const Damping nu{std::pow(10, uniform(random, -5, -0.3))};
  const auto window_kind = random() % 2 == 0 ? GeneratorKind::direct : GeneratorKind::fft;
  switch (random() % 7) {
    case 0:
      return {Correlation{Independent{}}, GeneratorKind::automatic};
    case 1:
    case 2:
      return {Correlation{Rational::nu_ftrl(nu, 1 + random() % 14)}, GeneratorKind::automatic};
    case 3:
      return {Correlation{DampedAntiPgd{nu}}, window_kind};
    case 4:
      return {Correlation{Windowed{random_window(random), StepCount{steps}}}, window_kind};
    case 5:
      return {Correlation{NuFtrl{nu, StepCount{steps}}}, GeneratorKind::fft};
    default:
      return {Correlation{Tree{1 + static_cast<unsigned>(random() % 12),
                               random() % 2 == 0 ? Tree::Estimator::plain : Tree::Estimator::honaker, true}},
              GeneratorKind::automatic};
  }
}

std::vector<double> copied(const CorrelatedBlock& block) {
  return {block.z.begin(), block.z.end()};
}

void expect_same(const std::vector<double>& restarted, const std::vector<double>& undisturbed, GeneratorKind kind) {
  ASSERT_EQ(restarted.size(), undisturbed.size());
  if (kind != GeneratorKind::fft) {
    ASSERT_EQ(restarted, undisturbed);
    return;
  }
  for (std::size_t i = 0; i < restarted.size(); ++i) ASSERT_NEAR(restarted[i], undisturbed[i], 1e-12);
}

TEST(NoiseSourceProperty, AnyRestartGivesTheUndisturbedNoise) {
  Random random(40);
  for (int trial = 0; trial < 48; ++trial) {
    constexpr std::uint64_t blocks = 4;
    const std::size_t dimension = trial % 6 == 0 ? 1 : 1 + random() % (trial % 12 == 1 ? 1200 : 40);
    const std::uint64_t block_steps = steps_per_block(dimension);
    const std::uint64_t horizon = blocks * block_steps - random() % block_steps;
    const Setting setting = random_setting(random, horizon);
    const Checkpoint fresh = first_checkpoint(testing::example_epoch_key(), {LaneId{3}, EpochId{1}, 0});
    SCOPED_TRACE(setting.correlation.name() + ", dimension " + std::to_string(dimension));
    const auto make = [&](const Checkpoint& checkpoint, std::uint64_t next_step) {
      return NoiseSource(setting.correlation, setting.kind, dimension, checkpoint, StepIndex{next_step});
    };

    auto undisturbed = make(fresh, 0);
    std::vector<std::vector<double>> z;
    std::vector<std::pair<std::uint64_t, Checkpoint>> checkpoints{{0, undisturbed.checkpoint(StepIndex{0})}};
    for (std::uint64_t block = 0; block < blocks; ++block) {
      z.push_back(copied(undisturbed.next()));
      const std::uint64_t earliest = block == 0 ? 0 : (block - 1) * block_steps;
      const std::uint64_t end =
          std::min((block + 1) * block_steps, setting.correlation.horizon() ? horizon : UINT64_MAX);
      const std::uint64_t next_step = earliest + random() % (end - earliest + 1);
      checkpoints.emplace_back(next_step, undisturbed.checkpoint(StepIndex{next_step}));
      checkpoints.emplace_back(end, undisturbed.checkpoint(StepIndex{end}));
    }

    const auto generator = make_generator(setting.correlation, setting.kind, dimension);
    KeyRing all_keys(fresh.segments, block_steps, std::pmr::get_default_resource());
    static_cast<void>(all_keys.cipher_key(blocks * block_steps));
    for (const auto& [next_step, checkpoint] : checkpoints) {
      const std::uint64_t wanted = next_step / block_steps;
      const std::uint64_t oldest = generator->oldest_needed(StepIndex{wanted * block_steps}).value() / block_steps;
      ASSERT_EQ(checkpoint.segments.size(), 1U);
      ASSERT_EQ(checkpoint.segments.front().first.value(), oldest * block_steps);
      ASSERT_EQ(checkpoint.segments.front().chain_key, all_keys.chain_key(oldest * block_steps));
      auto restarted = make(checkpoint, next_step);
      // Restarts once more from the restarted source, before it gave anything and after a block.
      auto again = make(restarted.checkpoint(StepIndex{wanted * block_steps}), next_step);
      for (std::uint64_t block = wanted; block < blocks; ++block) {
        const auto continued = copied(restarted.next());
        expect_same(continued, z[block], restarted.kind());
        if (::testing::Test::HasFatalFailure()) return;
        if (block == wanted) {
          expect_same(copied(again.next()), continued, again.kind());
          again = make(restarted.checkpoint(StepIndex{block * block_steps}), block * block_steps);
          expect_same(copied(again.next()), continued, again.kind());
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

// The first checkpoint alone reaches any step far ahead: the service falls back on this when it knows only the epoch
// key.
TEST(NoiseSourceProperty, AnyStepIsReachedFromTheFirstCheckpoint) {
  Random random(41);
  for (int trial = 0; trial < 12; ++trial) {
    const std::size_t dimension = 1 + random() % 100;
    const std::uint64_t block_steps = steps_per_block(dimension);
    const Setting setting = random_setting(random, 10 * block_steps);
    const Checkpoint fresh = first_checkpoint(testing::example_epoch_key(), {LaneId{0}, EpochId{0}, 1});
    SCOPED_TRACE(setting.correlation.name() + ", dimension " + std::to_string(dimension));
    NoiseSource walked(setting.correlation, setting.kind, dimension, fresh, StepIndex{0});
    const std::uint64_t wanted = 1 + random() % 8;
    for (std::uint64_t block = 0; block < wanted; ++block) static_cast<void>(walked.next());
    NoiseSource leaped(setting.correlation, setting.kind, dimension, fresh,
                       StepIndex{wanted * block_steps + random() % block_steps});
    expect_same(copied(leaped.next()), copied(walked.next()), leaped.kind());
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// A source may be told that nobody needs steps from `end` on. The steps before `end` are then the same to the bit, in
// blocks of whole strides.
TEST(NoiseSourceProperty, AnEndTakesNothingFromTheStepsBeforeIt) {
  Random random(42);
  for (int trial = 0; trial < 120; ++trial) {
    // A single coordinate is generated in strides of steps.
    const std::size_t dimension = trial % 4 == 0 ? 1 : 1 + random() % 60;
    const std::uint64_t block_steps = steps_per_block(dimension);
    const std::uint64_t end = 1 + random() % (trial / 4 % 2 == 0 ? 17 : 3 * block_steps);
    const Setting setting = random_setting(random, 4 * block_steps);
    const std::uint64_t horizon = setting.correlation.horizon().value_or(StepCount{1U << 30U}).value();
    const Checkpoint fresh = first_checkpoint(testing::example_epoch_key(), {LaneId{2}, EpochId{0}, 1});
    SCOPED_TRACE(setting.correlation.name() + ", dimension " + std::to_string(dimension));
    NoiseSource whole(setting.correlation, setting.kind, dimension, fresh, StepIndex{0});
    NoiseSource ending(setting.correlation, setting.kind, dimension, fresh, StepIndex{0},
                       std::pmr::get_default_resource(), StepCount{end});
    for (std::uint64_t first = 0; first < end; first += block_steps) {
      const std::vector<double> all = copied(whole.next());
      const CorrelatedBlock block = ending.next();
      ASSERT_EQ(block.first.value(), first);
      ASSERT_EQ(copied(block),
                std::vector<double>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(block.steps * dimension)));
      ASSERT_EQ(block.steps, std::min({block_steps, (end - first + 7) / 8 * 8, horizon - first}));
    }
    const Segment last = ending.checkpoint(StepIndex{end}).segments.front();
    ASSERT_EQ(last.chain_key, whole.checkpoint(StepIndex{end}).segments.front().chain_key);
    ASSERT_EQ(last.first, whole.checkpoint(StepIndex{end}).segments.front().first);
    ASSERT_EQ(ending.checkpoint(StepIndex{end}).memory, whole.checkpoint(StepIndex{end}).memory);
  }
}

TEST(NoiseSource, TakesAnEndThatNoStreamReachesAsNone) {
  const Correlation correlation{Rational::nu_ftrl(Damping{0.1})};
  const Checkpoint fresh = first_checkpoint(testing::example_epoch_key(), {LaneId{0}, EpochId{0}, 1});
  NoiseSource whole(correlation, GeneratorKind::recurrent, 3, fresh, StepIndex{0});
  const std::vector<double> all = copied(whole.next());
  for (const std::uint64_t before_last : {0U, 1U, 7U, 8U}) {
    NoiseSource ending(correlation, GeneratorKind::recurrent, 3, fresh, StepIndex{0},
                       std::pmr::get_default_resource(),
                       StepCount{std::numeric_limits<std::uint64_t>::max() - before_last});
    EXPECT_EQ(copied(ending.next()), all) << before_last;
  }
}

}  // namespace
}  // namespace nustream::noise
