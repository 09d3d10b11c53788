// What a plan of a table expects, against descents over drawn tables. The seeds are fixed, so nothing here fails by
// chance; the rates of false alarms are those for other seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/inference/table_descent.h"

namespace nustream::inference {
namespace {

descent::Schedule constant(double size) {
  return descent::Schedule{descent::Constant{StepSize{size}}};
}

// Lemma 2.3 in one direction: (1 − ηλ)^T of the start is left, and η²(1 − D^T)/(1 − D) of the noise's variance.
TEST(LastIterateOfATable, IsTheLemma) {
  for (const double eigenvalue : {0.2, 1.0, 3.0}) {
    const LastIterate last =
        last_iterate(noise::Correlation{noise::Independent{}}, constant(0.25), eigenvalue, 0, 30);
    const double kept = 1 - 0.25 * eigenvalue;
    EXPECT_NEAR(last.start, std::pow(kept, 30), 1e-14);
    EXPECT_NEAR(last.noise_variance, 0.0625 * (1 - std::pow(kept, 60)) / (1 - kept * kept), 1e-12);
  }
}

// The same by drawing: 40,000 descents of 25 steps, with momentum, a step size that changes and noise that begins
// anew. A mean or a variance is five standard errors off in 1e-6 of other seeds.
TEST(LastIterateOfATable, IsWhatDescentsHave) {
  constexpr std::size_t steps = 25;
  constexpr int runs = 40'000;
  const descent::Schedule schedule{descent::Inverse{StepSize{0.3}, 10}};
  const noise::Correlation correlation{
      noise::Restarted{noise::Correlation{noise::NuFtrl{Damping{0.05}, StepCount{9}}}}};
  const std::vector<double> b = noise::dense_noise_matrix(correlation, steps);
  std::mt19937_64 random(71);
  std::normal_distribution<double> normal;
  double sum = 0;
  double squares = 0;
  for (int run = 0; run < runs; ++run) {
    std::vector<double> w(steps);
    for (double& entry : w) entry = normal(random);
    double e = 4;
    double v = 0;
    for (std::size_t t = 0; t < steps; ++t) {
      double z = 0;
      for (std::size_t s = 0; s <= t; ++s) z += b[t * steps + s] * w[s];
      v = 0.6 * v + 0.5 * e + z;
      e -= schedule.at(StepIndex{t}) * v;
    }
    sum += e;
    squares += e * e;
  }
  const LastIterate last = last_iterate(correlation, schedule, 0.5, 0.6, steps);
  EXPECT_EQ(last.start, start_left(schedule, 0.5, 0.6, steps));
  const double mean = sum / runs;
  const double variance = squares / runs - mean * mean;
  EXPECT_NEAR(mean, 4 * last.start, 5 * std::sqrt(last.noise_variance / runs));
  EXPECT_NEAR(variance, last.noise_variance, 5 * last.noise_variance * std::sqrt(2.0 / runs));
}

struct Table {
  std::vector<double> x;
  std::vector<double> y;
};

Table draw(std::mt19937_64& random, const TableGuess& guess) {
  std::normal_distribution<double> normal;
  const std::size_t p = guess.eigenvalues.size();
  Table table;
  for (std::uint64_t i = 0; i < guess.records; ++i) {
    double y = guess.residual * normal(random);
    for (std::size_t j = 0; j < p; ++j) {
      const double x = std::sqrt(guess.eigenvalues[j]) * normal(random);
      table.x.push_back(x);
      y += x * guess.distance / std::sqrt(static_cast<double>(p));
    }
    table.y.push_back(y);
  }
  return table;
}

/// Whether a descent from 0, with noise of `stddev` on the mean gradient, has any gradient longer than `clip`.
bool clips(std::mt19937_64& random, const Table& table, const TableGuess& guess, double step_size, double stddev,
           double clip) {
  std::normal_distribution<double> normal;
  const std::size_t p = guess.eigenvalues.size();
  std::vector<double> theta(p, 0.0);
  for (std::uint64_t t = 0; t < guess.steps; ++t) {
    std::vector<double> sum(p, 0.0);
    for (std::size_t i = 0; i < table.y.size(); ++i) {
      double residual = -table.y[i];
      double squares = 0;
      for (std::size_t j = 0; j < p; ++j) {
        residual += table.x[i * p + j] * theta[j];
        squares += table.x[i * p + j] * table.x[i * p + j];
      }
      if (std::abs(residual) * std::sqrt(squares) > clip) return true;
      for (std::size_t j = 0; j < p; ++j) sum[j] += residual * table.x[i * p + j];
    }
    for (std::size_t j = 0; j < p; ++j) {
      theta[j] -= step_size * (sum[j] / static_cast<double>(guess.records) + stddev * normal(random));
    }
  }
  return false;
}

// Of 200 tables, at most as many are clipped as the bound allows: it allows 10, and is well on the safe side.
TEST(TableClip, ClipsNothingInAsManyTablesAsItSays) {
  const TableGuess guess{{1, 1, 0.5, 0.5, 0.25}, 0.5, 1, 400, 15};
  constexpr double step_size = 0.4;
  constexpr double rho = 1;
  // λ = √(2T)γ/(√ρ n) for a clip norm γ of 1 (Lemma 2.1).
  const double per_clip = std::sqrt(2.0 * 15 / rho) / 400;
  double kappa = 0;
  for (const double eigenvalue : guess.eigenvalues) {
    kappa +=
        eigenvalue * per_clip * per_clip *
        last_iterate(noise::Correlation{noise::Independent{}}, constant(step_size), eigenvalue, 0, 15).noise_variance;
  }
  const auto clip = clip_norm_that_clips_nothing(guess, kappa, 0.05);
  ASSERT_TRUE(clip.has_value());
  std::mt19937_64 random(73);
  int clipped = 0;
  int at_a_tenth = 0;
  for (int i = 0; i < 200; ++i) {
    const Table table = draw(random, guess);
    clipped += clips(random, table, guess, step_size, per_clip * *clip, *clip) ? 1 : 0;
    at_a_tenth += clips(random, table, guess, step_size, per_clip * *clip / 10, *clip / 10) ? 1 : 0;
  }
  EXPECT_LE(clipped, 10);
  // The clip norm is not needlessly large: at a tenth of it, more than half of the tables are clipped.
  EXPECT_GT(at_a_tenth, 100);
}

TEST(TableClip, SaysWhereItsOwnNoiseIsTooMuch) {
  const TableGuess guess{{1, 1}, 0.5, 1, 50, 10};
  EXPECT_FALSE(clip_norm_that_clips_nothing(guess, 1.0, 0.05).has_value());
  EXPECT_TRUE(clip_norm_that_clips_nothing(guess, 0.0, 0.05).has_value());
  EXPECT_GT(*clip_norm_that_clips_nothing(guess, 1e-4, 0.05), *clip_norm_that_clips_nothing(guess, 0.0, 0.05));
  EXPECT_THROW((void)clip_norm_that_clips_nothing({{}, 1, 1, 1, 1}, 0, 0.05), InvalidParameter);
}

}  // namespace
}  // namespace nustream::inference
