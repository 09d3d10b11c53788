// The covariance of the noise in a stage's sums, against the dense matrix B.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/moments/stage_noise.h"

namespace nustream::moments {
namespace {

std::vector<double> brute_force(const noise::Correlation& correlation, double kept,
                                const std::vector<std::uint64_t>& firsts, std::uint64_t steps) {
  const std::vector<double> dense = noise::dense_noise_matrix(correlation, steps);
  const std::size_t count = firsts.size();
  std::vector<std::vector<long double>> weights(count, std::vector<long double>(steps));
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t end = i + 1 < count ? firsts[i + 1] : steps;
    for (std::uint64_t t = firsts[i]; t < end; ++t) {
      const long double age = powl(kept, static_cast<long double>(steps - 1 - t));
      for (std::uint64_t u = 0; u <= t; ++u) weights[i][u] += age * dense[t * steps + u];
    }
  }
  std::vector<double> all;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      long double sum = 0;
      for (std::uint64_t u = 0; u < steps; ++u) sum += weights[i][u] * weights[j][u];
      all.push_back(static_cast<double>(sum));
    }
  }
  return all;
}

std::vector<noise::Correlation> correlations() {
  return {noise::Correlation{noise::Rational::nu_ftrl(Damping{1e-6})},
          noise::Correlation{noise::Rational::nu_ftrl(Damping{.02})},
          noise::Correlation{noise::NuFtrl{Damping{0}, StepCount{200}}},
          noise::Correlation{noise::DampedAntiPgd{Damping{.1}}}, noise::Correlation{noise::Independent{}}};
}

TEST(StageNoise, IsTheCovarianceOfTheSums) {
  std::mt19937_64 random(3);
  for (const noise::Correlation& correlation : correlations()) {
    for (const double kept : {1.0, .98, .5}) {
      const StageNoise noise(correlation, kept);
      for (int trial = 0; trial < 12; ++trial) {
        const std::uint64_t steps = 5 + random() % 150;
        std::vector<std::uint64_t> firsts{random() % 3};
        while (firsts.back() + 1 < steps && random() % 4 != 0)
          firsts.push_back(firsts.back() + 1 + random() % (steps - firsts.back() - 1));
        const std::vector<double> found = noise.covariance(firsts, StepCount{steps});
        const std::vector<double> exact = brute_force(correlation, kept, firsts, steps);
        ASSERT_EQ(found.size(), exact.size());
        for (std::size_t i = 0; i < exact.size(); ++i)
          EXPECT_NEAR(found[i], exact[i], 1e-11) << correlation.name() << ' ' << kept;
      }
    }
  }
}

// A resumed lane asks other questions than a lane that went on, and has to get answers that are the same to the bit.
TEST(StageNoise, AnswersDoNotDependOnWhatWasAskedBefore) {
  const std::vector<std::uint64_t> firsts{0, 7, 60};
  for (const noise::Correlation& correlation : correlations()) {
    const StageNoise noise(correlation, .99);
    for (std::uint64_t steps = 61; steps < 150; ++steps) {
      if (steps % 3 == 0) static_cast<void>(noise.covariance(std::vector<std::uint64_t>{0, 5}, StepCount{steps}));
      EXPECT_EQ(noise.covariance(firsts, StepCount{steps}),
                StageNoise(correlation, .99).covariance(firsts, StepCount{steps}));
    }
  }
}

TEST(StageNoise, RefusesWhatIsNotToeplitzAndWhatIsBeyondTheHorizon) {
  const std::uint64_t first[] = {0};
  const noise::Correlation tree{noise::Tree{3, noise::Tree::Estimator::plain, true}};
  EXPECT_THROW(static_cast<void>(StageNoise(tree, 1).covariance(first, StepCount{2})), Unsupported);
  const noise::Correlation short_one{noise::NuFtrl{Damping{0}, StepCount{5}}};
  EXPECT_THROW(static_cast<void>(StageNoise(short_one, 1).covariance(first, StepCount{6})), Unsupported);
  EXPECT_THROW(StageNoise(short_one, 0), InvalidParameter);
  EXPECT_THROW(StageNoise(short_one, 1.5), InvalidParameter);
}

}  // namespace
}  // namespace nustream::moments
