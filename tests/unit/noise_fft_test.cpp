// Fast convolution against the plain sum, where windows are wide and runs are long.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>
#include <vector>

#include "noise/generator.h"
#include "nustream/noise/correlation.h"
#include "support/noise_generators_seed.h"

namespace nustream::noise {
namespace {

using testing::WhiteSeed;

constexpr std::size_t dimension = 2;

std::vector<double> generate(const Correlation& correlation, GeneratorKind kind, std::size_t steps,
                             std::size_t block) {
  WhiteSeed seed(99, dimension);
  return testing::run_generator(*make_generator(correlation, kind, dimension), seed, steps, dimension, block);
}

// The tolerance is in units of the standard deviation of the seed noise. Against a sum in extended precision the
// transform was off by up to 2.4e-15 at W = 2^16, and the direct sum by 3e-16.
constexpr double tolerance = 4e-15;

TEST(FftGenerator, EqualsTheDirectSumForWideWindows) {
  for (const std::size_t window : {1UL, 2UL, 65UL, 511UL, 512UL, 513UL, 1500UL, 4096UL}) {
    const Correlation correlation = windowed_nu(Damping{1e-5}, window);
    const std::vector<double> direct = generate(correlation, GeneratorKind::direct, 9000, 512);
    const std::vector<double> fast = generate(correlation, GeneratorKind::fft, 9000, 256);
    for (std::size_t i = 0; i < direct.size(); ++i) ASSERT_NEAR(fast[i], direct[i], tolerance) << window;
  }
}

TEST(FftGenerator, EqualsTheDirectSumForAWholeHorizon) {
  for (const std::size_t horizon : {700UL, 8192UL}) {
    const Correlation correlation{NuFtrl{Damping{0}, StepCount{horizon}}};
    const std::vector<double> direct = generate(correlation, GeneratorKind::direct, horizon, 1024);
    const std::vector<double> fast = generate(correlation, GeneratorKind::fft, horizon, 1024);
    for (std::size_t i = 0; i < direct.size(); ++i) ASSERT_NEAR(fast[i], direct[i], tolerance) << horizon;
  }
}

// Blocks are larger than a stretch, smaller, or do not divide it. Stretches begin at absolute multiples, so each is
// the same transform of the same samples.
TEST(FftGenerator, IsTheSameInBlocksOfAnySize) {
  const Correlation correlation = windowed_nu(Damping{1e-5}, 700);
  const std::vector<double> reference = generate(correlation, GeneratorKind::fft, 6000, 6000);
  for (const std::size_t block : {1UL, 100UL, 1024UL, 2048UL}) {
    EXPECT_EQ(generate(correlation, GeneratorKind::fft, 6000, block), reference) << block;
  }
}

// A generator is restored anywhere, with the keys wiped that it does not need: it reads the stretch before again, and
// nothing further back.
TEST(FftGenerator, GoesOnAcrossStretches) {
  constexpr std::size_t block = 256;
  constexpr std::size_t steps = 24 * block;
  const Correlation correlation = windowed_nu(Damping{1e-5}, 300);
  const std::vector<double> reference = generate(correlation, GeneratorKind::fft, steps, block);
  for (std::size_t first = 0; first < steps; first += block) {
    const auto generator = make_generator(correlation, GeneratorKind::fft, dimension);
    generator->restore(StepIndex{first}, {});
    WhiteSeed seed(99, dimension);
    for (std::size_t at = first; at < steps; at += block) {
      seed.forget_before(generator->oldest_needed(StepIndex{at}));
      std::vector<double> z(block * dimension);
      generator->generate(StepIndex{at}, block, seed, z);
      for (std::size_t i = 0; i < z.size(); ++i) ASSERT_EQ(z[i], reference[at * dimension + i]) << first << ' ' << at;
    }
  }
}

// The whole process shares one planner of FFTW, so generators that are made at the same time must not disturb each
// other.
TEST(FftGenerator, CanBeMadeOnSeveralThreads) {
  const Correlation correlation = windowed_nu(Damping{1e-5}, 100);
  const std::vector<double> reference = generate(correlation, GeneratorKind::fft, 2000, 256);
  std::vector<std::vector<double>> results(8);
  {
    std::vector<std::jthread> threads;
    threads.reserve(results.size());
    for (auto& result : results) {
      threads.emplace_back([&] {
        for (int repeat = 0; repeat < 5; ++repeat) result = generate(correlation, GeneratorKind::fft, 2000, 256);
      });
    }
  }
  for (const auto& result : results) EXPECT_EQ(result, reference);
}

}  // namespace
}  // namespace nustream::noise
