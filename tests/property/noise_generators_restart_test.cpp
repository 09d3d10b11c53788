// Restarts of windows, transforms and trees with real keys: from whatever step a checkpoint was taken, and wherever a
// source goes on from it, each step has the noise that it would have had without a restart.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "nustream/noise/correlation.h"
#include "nustream/noise/source.h"

namespace nustream::noise {
namespace {

constexpr std::size_t dimension = 40;  // so that a block has 256 steps

struct Case {
  Correlation correlation;
  GeneratorKind kind;
};

// A matrix with 1 on the diagonal and, beside it, entries that change from row to row.
Dense banded(std::size_t bands, std::size_t horizon) {
  std::vector<double> rows;
  for (std::size_t t = 0; t < horizon; ++t) {
    const std::size_t reach = std::min(t + 1, bands);
    for (std::size_t i = 0; i + 1 < reach; ++i) {
      rows.push_back(0.5 / static_cast<double>(reach + (t + i) % 3));
    }
    rows.push_back(1);
  }
  return {rows, bands, StepCount{horizon}};
}

Correlation anew(const Correlation& block) {
  return Correlation{Restarted{block}};
}

// Windows shorter and longer than a block, and stretches and trees that end within one.
std::vector<Case> cases() {
  const StepCount horizon{5000};
  return {{windowed_nu(Damping{1e-4}, 2), GeneratorKind::direct},
          {windowed_nu(Damping{1e-4}, 257), GeneratorKind::direct},
          {windowed_nu(Damping{1e-4}, 258), GeneratorKind::direct},
          {windowed_nu(Damping{1e-4}, 700), GeneratorKind::direct},
          {windowed_nu(Damping{1e-4}, 300), GeneratorKind::fft},
          {windowed_nu(Damping{1e-4}, 1500), GeneratorKind::fft},
          {Correlation{NuFtrl{Damping{0}, horizon}}, GeneratorKind::fft},
          {Correlation{Strategy{{1, 0.5, 0.25}, horizon}}, GeneratorKind::fft},
          {Correlation{Rational::nu_ftrl(Damping{1e-3}, 3), horizon}, GeneratorKind::recurrent},
          {Correlation{Rational::nu_ftrl(Damping{1e-3}, 3), horizon}, GeneratorKind::fft},
          {Correlation{banded(1, 5000)}, GeneratorKind::dense},
          {Correlation{banded(300, 5000)}, GeneratorKind::dense},
          // These begin anew within blocks and strides, at their borders, and seldom.
          {anew(Correlation{Rational::nu_ftrl(Damping{1e-3}, 3), StepCount{37}}), GeneratorKind::recurrent},
          {anew(Correlation{Rational::nu_ftrl(Damping{1e-3}, 3), StepCount{512}}), GeneratorKind::recurrent},
          {anew(Correlation{AntiPgd{StepCount{100}}}), GeneratorKind::direct},
          {anew(Correlation{NuFtrl{Damping{0}, StepCount{300}}}), GeneratorKind::direct},
          {anew(Correlation{NuFtrl{Damping{0}, StepCount{1999}}}), GeneratorKind::fft},
          {anew(Correlation{banded(30, 256)}), GeneratorKind::dense},
          {anew(Correlation{banded(300, 401)}), GeneratorKind::dense},
          {Correlation{Tree{0, Tree::Estimator::plain, true}}, GeneratorKind::tree},
          {Correlation{Tree{5, Tree::Estimator::plain, true}}, GeneratorKind::tree},
          {Correlation{Tree{10, Tree::Estimator::honaker, true}}, GeneratorKind::tree},
          {Correlation{Tree{13, Tree::Estimator::honaker, false}}, GeneratorKind::tree}};
}

KeyBytes example_key() {
  KeyBytes key{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(7 * i + 1);
  return key;
}

TEST(NoiseSourceRestart, GivesEveryStepTheNoiseThatItHad) {
  constexpr std::size_t blocks = 18;
  const std::size_t block = steps_per_block(dimension);
  const Checkpoint start = first_checkpoint(example_key(), {LaneId{1}, EpochId{2}, 0});
  std::mt19937_64 random(11);
  for (const Case& tested : cases()) {
    // FFT promises only that its rounding stays small; the others promise every bit.
    const double tolerance = tested.kind == GeneratorKind::fft ? 1e-13 : 0;
    std::vector<double> z;
    NoiseSource undisturbed(tested.correlation, tested.kind, dimension, start, StepIndex{0});
    NoiseSource interrupted(tested.correlation, tested.kind, dimension, start, StepIndex{0});
    std::uint64_t taken = 0;  // the number of blocks that the interrupted run was given since its last restart
    for (std::size_t number = 0; number < blocks; ++number) {
      const CorrelatedBlock whole = undisturbed.next();
      z.assign(whole.z.begin(), whole.z.end());
      const CorrelatedBlock other = interrupted.next();
      ++taken;
      ASSERT_EQ(other.first, whole.first);
      for (std::size_t i = 0; i < z.size(); ++i) {
        ASSERT_NEAR(other.z[i], z[i], tolerance) << tested.correlation.name() << " block " << number;
      }
      if (random() % 2 == 0) continue;
      // Goes back by up to two blocks, and then through the blocks up to here once more.
      const std::uint64_t back = std::min<std::uint64_t>(taken, 1 + random() % 2);
      const StepIndex next_step{(number + 1 - back) * block + random() % block};
      const Checkpoint checkpoint = interrupted.checkpoint(next_step);
      EXPECT_LE(checkpoint.segments.front().first.value(), next_step.value() / block * block);
      interrupted = NoiseSource(tested.correlation, tested.kind, dimension, checkpoint, next_step);
      for (std::uint64_t again = 0; again < back; ++again) (void)interrupted.next();
      taken = back;
    }
  }
}

// A checkpoint holds the key of the oldest block that the window still reaches, and no older key.
TEST(NoiseSourceRestart, KeepsNoKeyOlderThanTheWindow) {
  const Checkpoint start = first_checkpoint(example_key(), {LaneId{1}, EpochId{2}, 0});
  const auto oldest = [&](const Correlation& correlation, GeneratorKind kind, std::uint64_t blocks) {
    NoiseSource source(correlation, kind, dimension, start, StepIndex{0});
    for (std::uint64_t number = 0; number < blocks; ++number) (void)source.next();
    return source.checkpoint(StepIndex{blocks * steps_per_block(dimension)}).segments.front().first.value() /
           steps_per_block(dimension);
  };
  ASSERT_EQ(steps_per_block(dimension), 256U);
  EXPECT_EQ(oldest(windowed_nu(Damping{1e-4}, 1), GeneratorKind::direct, 10), 10U);
  EXPECT_EQ(oldest(windowed_nu(Damping{1e-4}, 2), GeneratorKind::direct, 10), 9U);
  EXPECT_EQ(oldest(windowed_nu(Damping{1e-4}, 257), GeneratorKind::direct, 10), 9U);
  EXPECT_EQ(oldest(windowed_nu(Damping{1e-4}, 258), GeneratorKind::direct, 10), 8U);
  // Step 2560 is in the stretch from step 1749 on, whose window begins at step 1450, in block 5.
  EXPECT_EQ(oldest(windowed_nu(Damping{1e-4}, 300), GeneratorKind::fft, 10), 5U);
  EXPECT_EQ(oldest(Correlation{NuFtrl{Damping{0}, StepCount{5000}}}, GeneratorKind::fft, 10), 0U);
  EXPECT_EQ(oldest(Correlation{Tree{12, Tree::Estimator::honaker, true}}, GeneratorKind::tree, 10), 10U);
  // The noise of a dense encoder depends on all steps before it.
  EXPECT_EQ(oldest(Correlation{banded(2, 5000)}, GeneratorKind::dense, 10), 0U);
}

// There is no noise for steps beyond the horizon.
TEST(NoiseSourceRestart, EndsAtTheHorizon) {
  const Checkpoint start = first_checkpoint(example_key(), {LaneId{1}, EpochId{2}, 0});
  for (const Case& tested :
       {Case{Correlation{NuFtrl{Damping{0}, StepCount{300}}}, GeneratorKind::automatic},
        Case{Correlation{AntiPgd{StepCount{300}}}, GeneratorKind::automatic},
        Case{Correlation{banded(7, 300)}, GeneratorKind::automatic},
        Case{Correlation{banded(7, 400), StepCount{300}}, GeneratorKind::automatic},
        Case{Correlation{Rational::nu_ftrl(Damping{0.1}), StepCount{300}}, GeneratorKind::automatic},
        Case{Correlation{Tree{8, Tree::Estimator::honaker, false}}, GeneratorKind::automatic}}) {
    NoiseSource source(tested.correlation, tested.kind, dimension, start, StepIndex{0});
    std::uint64_t steps = 0;
    try {
      for (int block = 0; block < 10; ++block) steps += source.next().steps;
      FAIL() << "no end";
    } catch (const Unsupported&) {
    }
    EXPECT_EQ(StepCount{steps}, tested.correlation.horizon());
  }
}

}  // namespace
}  // namespace nustream::noise
