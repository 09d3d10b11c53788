// Fitted correlations, generated in every way that they can be, against their matrix written out; and their hard stop
// at the horizon.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "noise/generator.h"
#include "nustream/base/error.h"
#include "nustream/privacy/known_length.h"
#include "nustream/privacy/optimised.h"
#include "nustream/privacy/optimised_descent.h"
#include "nustream/privacy/zcdp.h"
#include "support/noise_generators_seed.h"

namespace nustream::noise {
namespace {

using privacy::Participation;
using privacy::PrefixError;
using privacy::PrefixSums;

constexpr std::size_t horizon = 128;
constexpr std::size_t dimension = 3;

std::vector<Correlation> fits() {
  const PrefixSums once{StepCount{horizon}, Participation::once(), PrefixError::mean};
  const PrefixSums several{StepCount{horizon}, {3, 40}, PrefixError::mean};
  return {privacy::optimised_toeplitz(once),
          privacy::optimised_toeplitz(once, 10),
          privacy::optimised_toeplitz(several),
          privacy::optimised_rational(once, 4),
          privacy::optimised_rational(several, 3),
          privacy::optimised_dense(once),
          privacy::optimised_dense(several),
          privacy::full_honaker(7),
          privacy::circulant(StepCount{horizon}),
          privacy::optimised_window(privacy::StronglyConvex{StepSize{0.5}, 0.1, 1}, 20, StepCount{horizon})};
}

std::vector<GeneratorKind> kinds(const Correlation& correlation) {
  if (!correlation.toeplitz()) return {GeneratorKind::dense};
  std::vector<GeneratorKind> kinds{GeneratorKind::direct, GeneratorKind::fft};
  if (std::holds_alternative<Rational>(correlation.family())) kinds.push_back(GeneratorKind::recurrent);
  return kinds;
}

TEST(OptimisedNoise, IsItsMatrixTimesTheSeedNoise) {
  for (const Correlation& correlation : fits()) {
    const std::vector<double> matrix = dense_noise_matrix(correlation, horizon);
    for (const GeneratorKind kind : kinds(correlation)) {
      testing::WhiteSeed seed(5, dimension);
      const auto generator = make_generator(correlation, kind, dimension);
      const std::vector<double> z = testing::run_generator(*generator, seed, horizon, dimension, 16);
      for (std::size_t t = 0; t < horizon; ++t) {
        for (std::size_t j = 0; j < dimension; ++j) {
          double expected = 0;
          for (std::size_t s = 0; s <= t; ++s) expected += matrix[t * horizon + s] * testing::white(5, s, j);
          ASSERT_NEAR(z[t * dimension + j], expected, 1e-12)
              << correlation.name() << ", kind " << static_cast<int>(kind) << ", step " << t;
        }
      }
    }
  }
}

TEST(OptimisedNoise, StopsAtTheHorizonAndSoDoesItsSpend) {
  const Checkpoint start = first_checkpoint({}, {LaneId{0}, EpochId{0}, 0});
  for (const Correlation& correlation : fits()) {
    ASSERT_EQ(correlation.horizon(), StepCount{horizon}) << correlation.name();
    for (const GeneratorKind kind : kinds(correlation)) {
      NoiseSource source(correlation, kind, 1000, start, StepIndex{0});
      std::uint64_t steps = 0;
      EXPECT_THROW(
          {
            for (int block = 0; block < 20; ++block) steps += source.next().steps;
          },
          Unsupported);
      EXPECT_EQ(steps, horizon) << correlation.name();
    }
    const privacy::Spend spend(correlation, Participation::once(), NoiseMultiplier{1});
    EXPECT_EQ(spend.limit(), spend.after(StepCount{horizon}));
    EXPECT_THROW((void)spend.after(StepCount{horizon + 1}), Unsupported) << correlation.name();
  }
}

}  // namespace
}  // namespace nustream::noise
