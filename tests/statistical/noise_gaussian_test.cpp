// The seed noise as a sample of the normal distribution. Every comparison has a false-alarm rate of 1e-6, and there
// are about 90 comparisons, so a correct generator under another key fails this file with a probability below 1e-4.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "noise/key_ring.h"
#include "noise/seed_noise.h"
#include "nustream/noise/source.h"
#include "support/noise_key_example.h"
#include "support/noise_statistics.h"

namespace nustream::noise {
namespace {

using testing::deviations_allowed;
using testing::kolmogorov_allowed;
using testing::normal_tail;
using testing::poisson_p_value;
using testing::ProductSum;
using testing::samples_to_draw;

constexpr std::size_t dimension = 16;

/// Gives consecutive blocks of the seed noise of one stage, and forgets the keys behind them.
class Stream {
 public:
  explicit Stream(const StageId& stage)
      : steps_(steps_per_block(dimension)),
        keys_(first_checkpoint(testing::example_epoch_key(), stage).segments, steps_,
              std::pmr::get_default_resource()),
        seed_(keys_, dimension),
        samples_(steps_ * dimension) {}

  const std::vector<double>& next() {
    seed_.fill(StepIndex{block_ * steps_}, steps_, samples_);
    keys_.forget_before(block_++ * steps_);
    return samples_;
  }

 private:
  std::size_t steps_;
  KeyRing keys_;
  KeyedSeedNoise seed_;
  std::vector<double> samples_;
  std::uint64_t block_ = 0;
};

StageId stage(std::uint32_t lane, std::uint32_t epoch = 0, std::uint32_t number = 0) {
  return {LaneId{lane}, EpochId{epoch}, number};
}

template <class Visit>
std::uint64_t for_each_block(const StageId& of, Visit visit) {
  Stream stream(of);
  std::uint64_t drawn = 0;
  while (drawn < samples_to_draw()) {
    const auto& samples = stream.next();
    visit(samples);
    drawn += samples.size();
  }
  return drawn;
}

// The raw moments of N(0, 1) are 0, 1, 0, 3, 0, 15; the variance of x^k is E x^2k − (E x^k)².
TEST(GaussianStatistics, Moments) {
  std::array<double, 6> sums{};
  const double n = static_cast<double>(for_each_block(stage(0), [&](const std::vector<double>& samples) {
    for (const double x : samples) {
      double power = x;
      for (auto& sum : sums) {
        sum += power;
        power *= x;
      }
    }
  }));
  constexpr std::array<double, 6> mean{0, 1, 0, 3, 0, 15};
  constexpr std::array<double, 6> variance{1, 2, 15, 96, 945, 10170};
  for (std::size_t k = 0; k < 6; ++k) {
    EXPECT_LT(std::abs(sums[k] / n - mean[k]) * std::sqrt(n / variance[k]), deviations_allowed) << "moment " << k + 1;
  }
}

// The empirical distribution at 65,536 equiprobable points: its largest distance at these is at most Kolmogorov's D.
TEST(GaussianStatistics, KolmogorovSmirnov) {
  constexpr std::size_t bins = 65536;
  std::vector<std::uint64_t> counts(bins);
  const double n = static_cast<double>(for_each_block(stage(1), [&](const std::vector<double>& samples) {
    for (const double x : samples) {
      ++counts[std::min(bins - 1, static_cast<std::size_t>(normal_tail(-x) * static_cast<double>(bins)))];
    }
  }));
  double largest = 0;
  double chi_square = 0;
  const double expected = n / static_cast<double>(bins);
  std::uint64_t below = 0;
  for (std::size_t bin = 0; bin < bins; ++bin) {
    below += counts[bin];
    largest = std::max(largest, std::abs(static_cast<double>(below) - expected * static_cast<double>(bin + 1)));
    const double excess = static_cast<double>(counts[bin]) - expected;
    chi_square += excess * excess / expected;
  }
  EXPECT_LT(largest / std::sqrt(n), kolmogorov_allowed);
  // For χ² with f degrees of freedom, (χ²/f)^⅓ is normal with mean 1 − 2/9f and variance 2/9f (Wilson and Hilferty).
  const double ninth = 2.0 / (9.0 * static_cast<double>(bins - 1));
  const double deviations = (std::cbrt(chi_square / static_cast<double>(bins - 1)) - (1 - ninth)) / std::sqrt(ninth);
  EXPECT_LT(std::abs(deviations), deviations_allowed);
}

// The values are from mpmath's incomplete gamma function.
TEST(PoissonPValue, IsTheExactSum) {
  EXPECT_NEAR(poisson_p_value(3, 5.0), 0.53005183059472341, 1e-12);
  EXPECT_NEAR(poisson_p_value(0, 2.5), 0.16416999724779759, 1e-12);
  EXPECT_NEAR(poisson_p_value(30, 12.25), 2.5969256222919077e-5, 1e-14);
  EXPECT_NEAR(poisson_p_value(6511, 6334.75), 0.027796213225082348, 1e-9);
  EXPECT_EQ(poisson_p_value(5, 5.0), 1.0);
}

TEST(GaussianStatistics, Tails) {
  constexpr std::array<double, 7> thresholds{2, 3, 4, 4.5, 5, 5.5, 6};
  std::array<std::array<std::uint64_t, 7>, 2> counts{};
  const double n = static_cast<double>(for_each_block(stage(2), [&](const std::vector<double>& samples) {
    for (const double x : samples) {
      if (std::abs(x) <= thresholds[0]) continue;
      auto& side = counts[x > 0 ? 1 : 0];
      for (std::size_t i = 0; i < thresholds.size(); ++i) side[i] += std::abs(x) > thresholds[i] ? 1U : 0U;
    }
  }));
  for (std::size_t side = 0; side < 2; ++side) {
    for (std::size_t i = 0; i < thresholds.size(); ++i) {
      const double expected = n * normal_tail(thresholds[i]);
      EXPECT_GT(poisson_p_value(counts[side][i], expected), 1e-6)
          << counts[side][i] << " beyond " << thresholds[i] << ", expected " << expected;
    }
  }
}

// Samples that are neighbours in time, in coordinate, in a pair of Box and Muller or in a chunk, as they are and
// squared.
TEST(GaussianStatistics, NoCorrelationWithinABlock) {
  const std::vector<std::size_t> lags{1,  2,   3,   7,   8,   15,  16,  32,   48,   64,
                                      96, 127, 128, 129, 255, 256, 512, 1024, 2048, 4096};
  std::vector<ProductSum> plain(lags.size());
  std::vector<ProductSum> squared(lags.size());
  const auto centred_square = [](double x) { return (x * x - 1) / std::sqrt(2.0); };
  for_each_block(stage(3), [&](const std::vector<double>& samples) {
    for (std::size_t lag = 0; lag < lags.size(); ++lag) {
      for (std::size_t i = 0; i + lags[lag] < samples.size(); ++i) {
        const double x = samples[i];
        const double y = samples[i + lags[lag]];
        plain[lag].add(x, y);
        squared[lag].add(centred_square(x), centred_square(y));
      }
    }
  });
  for (std::size_t lag = 0; lag < lags.size(); ++lag) {
    EXPECT_LT(std::abs(plain[lag].deviations()), deviations_allowed) << "lag " << lags[lag];
    EXPECT_LT(std::abs(squared[lag].deviations()), deviations_allowed) << "squares, lag " << lags[lag];
  }
}

// Samples at the same place of neighbouring blocks, lanes, epochs and stages: a key that was used twice would show at
// once.
TEST(GaussianStatistics, NoCorrelationBetweenBlocksLanesEpochsAndStages) {
  Stream reference(stage(4));
  std::array<Stream, 3> others{Stream(stage(5)), Stream(stage(4, 1)), Stream(stage(4, 0, 1))};
  std::array<ProductSum, 4> sums;
  std::vector<double> previous;
  for (std::uint64_t drawn = 0; drawn < samples_to_draw();) {
    const auto& samples = reference.next();
    for (std::size_t other = 0; other < others.size(); ++other) {
      const auto& theirs = others[other].next();
      for (std::size_t i = 0; i < samples.size(); ++i) sums[other].add(samples[i], theirs[i]);
    }
    for (std::size_t i = 0; i < previous.size(); ++i) sums[3].add(samples[i], previous[i]);
    previous = samples;
    drawn += samples.size();
  }
  constexpr std::array<const char*, 4> names{"lanes", "epochs", "stages", "blocks"};
  for (std::size_t i = 0; i < sums.size(); ++i) {
    EXPECT_LT(std::abs(sums[i].deviations()), deviations_allowed) << names[i];
  }
}

// The z of a rational correlation has the autocovariance Σ_s β_s β_{s+h}. The variance of its estimate is Bartlett's
// (1/n) Σ_k (R_k² + R_{k+h} R_{k−h}), and coordinates are independent.
TEST(CorrelatedStatistics, Autocovariance) {
  const Correlation correlation{Rational::nu_ftrl(Damping{0.1}, 4)};
  constexpr std::ptrdiff_t reach = 400;  // β has then fallen below 1e-20
  const auto beta = noise_coefficients(correlation, reach);
  const auto covariance = [&beta](std::ptrdiff_t lag) {
    const auto h = static_cast<std::size_t>(std::abs(lag));
    double sum = 0;
    for (std::size_t s = 0; s + h < beta.size(); ++s) sum += beta[s] * beta[s + h];
    return sum;
  };

  constexpr std::size_t lags = 6;
  std::array<double, lags> sums{};
  std::array<std::uint64_t, lags> counts{};
  NoiseSource source(correlation, GeneratorKind::automatic, dimension,
                     first_checkpoint(testing::example_epoch_key(), stage(6)), StepIndex{4096});
  for (std::uint64_t drawn = 0; drawn < samples_to_draw();) {
    const auto block = source.next();
    for (std::size_t h = 0; h < lags; ++h) {
      for (std::size_t i = h * dimension; i < block.z.size(); ++i) sums[h] += block.z[i] * block.z[i - h * dimension];
      counts[h] += block.z.size() - h * dimension;
    }
    drawn += block.z.size();
  }
  for (std::size_t h = 0; h < lags; ++h) {
    const auto lag = static_cast<std::ptrdiff_t>(h);
    double variance = 0;
    for (std::ptrdiff_t k = -reach; k <= reach; ++k) {
      variance += covariance(k) * covariance(k) + covariance(k + lag) * covariance(k - lag);
    }
    const double n = static_cast<double>(counts[h]);
    EXPECT_LT(std::abs(sums[h] / n - covariance(lag)), deviations_allowed * std::sqrt(variance / n)) << "lag " << h;
  }
}

}  // namespace
}  // namespace nustream::noise
