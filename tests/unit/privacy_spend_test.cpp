// ρ: calibration, running spend, its limit, composition. Each is rounded to the side that does not report too little.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/privacy/sensitivity.h"
#include "nustream/privacy/zcdp.h"

namespace nustream::privacy {
namespace {

using noise::Correlation;

Correlation rational(double nu) {
  return Correlation{noise::Rational::nu_ftrl(Damping{nu})};
}

TEST(Zcdp, RhoIsHalfTheSquaredRatio) {
  EXPECT_NEAR(rho(Sensitivity{3}, NoiseMultiplier{2}).value(), 9.0 / 8, 1e-15);
  EXPECT_GE(rho(Sensitivity{3}, NoiseMultiplier{2}).value(), 9.0 / 8);
  EXPECT_NEAR(rho(Sensitivity{1e200}, NoiseMultiplier{1e200}).value(), 0.5, 1e-15);
}

TEST(Zcdp, CalibratedNoiseNeverCostsMoreThanItsBudget) {
  std::mt19937_64 engine(29);
  std::uniform_real_distribution<double> exponent(-8, 8);
  for (int trial = 0; trial < 100'000; ++trial) {
    const Sensitivity sensitivity{std::pow(10, exponent(engine))};
    const Rho budget{std::pow(10, exponent(engine))};
    const double spent = rho(sensitivity, multiplier_for(sensitivity, budget)).value();
    ASSERT_LE(spent, budget.value());
    ASSERT_GE(spent, budget.value() * (1 - 2e-14));
  }
  EXPECT_THROW((void)multiplier_for(Sensitivity{1}, Rho{0}), InvalidParameter);
}

TEST(Zcdp, CompositionAddsUpwardAndParallelTakesTheLargest) {
  const std::vector<Rho> parts(1000, Rho{0.1});
  EXPECT_GE(compose(parts).value(), 100.0);
  EXPECT_NEAR(compose(parts).value(), 100.0, 1e-11);
  EXPECT_EQ(compose({}).value(), 0);
  EXPECT_EQ(compose(std::vector{Rho{0.3}}).value(), 0.3);
  EXPECT_EQ(parallel(std::vector{Rho{0.3}, Rho{0.7}, Rho{0.2}}).value(), 0.7);
  EXPECT_EQ(parallel({}).value(), 0);
}

TEST(Spend, BeginsAtNothingAndEndsAtItsLimit) {
  const Spend spend(rational(1e-3), Participation::once(), NoiseMultiplier{2});
  EXPECT_EQ(spend.after(StepCount{0}).value(), 0);
  EXPECT_NEAR(spend.after(StepCount{1}).value(), 1.0 / 8, 1e-14);
  EXPECT_NEAR(spend.after(StepCount{1'000'000}).value(), spend.limit().value(), 1e-12);
  EXPECT_EQ(spend.of_age(StepCount{17}), spend.after(StepCount{17}));
  EXPECT_THROW((void)spend.of_age(StepCount{0}), InvalidParameter);
}

// What a record has cost `age` steps after its own step, at most over all places that the step may have.
double spend_by_age(const std::vector<double>& c, std::size_t steps, std::size_t age) {
  double largest = 0;
  for (std::size_t place = 0; place < steps; ++place) {
    double square = 0;
    for (std::size_t t = place; t < std::min(steps, place + age); ++t)
      square += c[t * steps + place] * c[t * steps + place];
    largest = std::max(largest, square);
  }
  return largest / 2;
}

TEST(Spend, ByAgeIsThatOfTheWorstPlace) {
  // Column 2 is the longest, and all of it shows at once.
  const std::vector<double> c = {1, 0, 0, 0, 0.5, 1, 0, 0, 0.2, 0.4, 3, 0, 0.1, 0.3, 0.2, 1};
  const Correlation matrix{noise::Dense({1, 0.5, 1, 0.2, 0.4, 3, 0.1, 0.3, 0.2, 1}, 4, StepCount{4})};
  const Spend spend(matrix, Participation::once(), NoiseMultiplier{1});
  for (std::size_t age = 1; age <= 4; ++age) {
    const double expected = spend_by_age(c, 4, age);
    EXPECT_NEAR(spend.of_age(StepCount{age}).value(), expected, 1e-13 * expected) << age;
  }
  EXPECT_GT(spend.of_age(StepCount{1}).value(), 4 * spend.after(StepCount{1}).value());
  EXPECT_THROW((void)spend.of_age(StepCount{5}), Unsupported);
}

// The last leaf of a tree completes a node on each of the tree's levels in its own step.
TEST(Spend, ByAgeInATreeIsThatOfEveryLevel) {
  const Spend spend(Correlation{noise::Tree{6, noise::Tree::Estimator::honaker, true}}, Participation::once(),
                    NoiseMultiplier{1});
  EXPECT_NEAR(spend.of_age(StepCount{1}).value(), 3.5, 1e-13);
  EXPECT_NEAR(spend.after(StepCount{1}).value(), 0.5, 1e-13);
  EXPECT_NEAR(spend.of_age(StepCount{1000}).value(), spend.limit().value(), 1e-13);
}

// At ν = .002 and T = 20,000 the running γ_t²/(2σ²) would report too little, by these factors.
TEST(Spend, OfSeveralParticipationsIsNotTheColumnNorm) {
  struct Case {
    std::uint64_t times, separation;
    double factor;
  };
  const Correlation exact{noise::NuFtrl{Damping{0.002}, StepCount{20'000}}};
  const StepCount steps{20'000};
  const Spend single(exact, Participation::once(), NoiseMultiplier{1});
  for (const auto& [times, separation, factor] : {Case{10, 100, 19.194}, Case{10, 1, 66.770}, Case{100, 1, 3894.9}}) {
    const Spend several(exact, {times, separation}, NoiseMultiplier{1});
    EXPECT_NEAR(several.after(steps).value() / single.after(steps).value(), factor, 2e-5 * factor);
    const Spend approximate(rational(0.002), {times, separation}, NoiseMultiplier{1});
    EXPECT_NEAR(approximate.after(steps).value() / several.after(steps).value(), 1, 2e-3);
    EXPECT_THROW((void)several.of_age(StepCount{1}), Unsupported);
  }
}

noise::Rational rational_family(double nu) {
  return noise::Rational::nu_ftrl(Damping{nu});
}

// A matrix whose columns have norms that go up and down.
noise::Dense dense(std::size_t bands, std::size_t steps) {
  std::vector<double> rows;
  for (std::size_t t = 0; t < steps; ++t) {
    for (std::size_t i = 0; i < std::min(t + 1, bands); ++i)
      rows.push_back(1 + 0.5 * std::sin(0.01 * static_cast<double>(t * i + t)));
  }
  return {rows, bands, StepCount{steps}};
}

std::vector<std::pair<Correlation, Participation>> settings() {
  return {{rational(1e-3), {1, 1}},
          {rational(1e-2), {5, 30}},
          {Correlation{noise::Independent{}}, {7, 10}},
          {Correlation{noise::NuFtrl{Damping{0.01}, StepCount{3000}}}, {1, 1}},
          {Correlation{noise::NuFtrl{Damping{0}, StepCount{3000}}}, {4, 100}},
          {Correlation{noise::AntiPgd{StepCount{3000}}}, {3, 1000}},
          {Correlation{noise::DampedAntiPgd{Damping{0.1}}}, {2, 3}},
          {noise::windowed_nu(Damping{0.01}, 20, StepCount{3000}), {3, 40}},
          {noise::windowed_nu(Damping{0.01}, 20), {1, 1}},
          {Correlation{noise::Strategy{{1, 0.7, 0.5}, StepCount{3000}}}, {9, 2}},
          {Correlation{rational_family(1e-3), StepCount{3000}}, {2, 700}},
          {Correlation{dense(5, 3000)}, {1, 1}},
          {Correlation{dense(5, 3000)}, {7, 3}},
          {Correlation{dense(40, 3000)}, {70, 50}},
          {Correlation{noise::Tree{12, noise::Tree::Estimator::honaker, false}}, {3, 500}},
          {Correlation{noise::Tree{8, noise::Tree::Estimator::plain, true}}, {4, 100}}};
}

TEST(Spend, NeverFallsAndNeverPassesItsLimit) {
  for (const auto& [correlation, participation] : settings()) {
    const Spend spend(correlation, participation, NoiseMultiplier{1.7});
    double before = 0;
    for (std::uint64_t t = 0; t <= 3000; ++t) {
      const double now = spend.after(StepCount{t}).value();
      ASSERT_GE(now, before) << correlation.name() << " after " << t;
      before = now;
    }
    EXPECT_LE(before, spend.limit().value() * (1 + 1e-14)) << correlation.name();
  }
}

// The running spend is the sensitivity over the steps so far, in whatever order it is asked for.
TEST(Spend, IsTheSensitivityOfTheStepsSoFar) {
  std::mt19937_64 engine(31);
  for (const auto& [correlation, participation] : settings()) {
    const Spend spend(correlation, participation, NoiseMultiplier{1.7});
    for (int question = 0; question < 200; ++question) {
      const StepCount steps{std::uniform_int_distribution<std::uint64_t>(1, 3000)(engine)};
      const double expected = rho(sensitivity(correlation, steps, participation), NoiseMultiplier{1.7}).value();
      ASSERT_NEAR(spend.after(steps).value(), expected, 1e-12 * expected)
          << correlation.name() << " after " << steps.value();
    }
  }
}

// ρ is part of every release: a run that was resumed must print the bits that an unbroken run prints.
TEST(Spend, AnswersDoNotDependOnEarlierQuestions) {
  for (const auto& [correlation, participation] : settings()) {
    const Spend asked_step_by_step(correlation, participation, NoiseMultiplier{1.7});
    for (std::uint64_t t = 1; t <= 3000; t += 7) {
      const Spend fresh(correlation, participation, NoiseMultiplier{1.7});
      ASSERT_EQ(asked_step_by_step.after(StepCount{t}), fresh.after(StepCount{t})) << correlation.name() << ", " << t;
    }
    (void)asked_step_by_step.limit();
    const Spend fresh(correlation, participation, NoiseMultiplier{1.7});
    EXPECT_EQ(asked_step_by_step.after(StepCount{500}), fresh.after(StepCount{500})) << correlation.name();
  }
  // Here the blocks become alike after some hundred of them.
  const Spend steady(rational(0.3), {1'000'000, 2}, NoiseMultiplier{1});
  for (std::uint64_t i = 1; i <= 200; ++i) {
    const std::uint64_t t = (i * 1'299'709) % 2'000'000 / (i % 3 == 0 ? 20'000 : 1) + 1;
    const Spend fresh(rational(0.3), {1'000'000, 2}, NoiseMultiplier{1});
    ASSERT_EQ(steady.after(StepCount{t}), fresh.after(StepCount{t})) << t;
  }
}

TEST(Spend, StopsAtTheHorizonAndHasNoLimitWhereThereIsNone) {
  const Spend spend(Correlation{noise::NuFtrl{Damping{0}, StepCount{50}}}, Participation::once(), NoiseMultiplier{1});
  EXPECT_NO_THROW((void)spend.after(StepCount{50}));
  EXPECT_THROW((void)spend.after(StepCount{51}), Unsupported);
  EXPECT_EQ(spend.limit(), spend.after(StepCount{50}));
}

TEST(Spend, ACopyAnswersAlike) {
  const Spend spend(rational(1e-3), {3, 100}, NoiseMultiplier{1});
  const Rho before = spend.after(StepCount{1000});
  Spend copy = spend;
  EXPECT_EQ(copy.after(StepCount{1000}), before);
  copy = Spend(rational(1e-2), {3, 100}, NoiseMultiplier{1});
  EXPECT_LT(copy.after(StepCount{1000}), before);
  EXPECT_EQ(spend.after(StepCount{1000}), before);
}

// An endless stream is calibrated with the limit γ_∞², so it stays within its budget.
TEST(Spend, EndlessStreamStaysWithinItsBudget) {
  for (const double nu : {1e-6, 1e-4, 1e-2}) {
    const Correlation correlation = rational(nu);
    const NoiseMultiplier sigma = multiplier_for(sensitivity_limit(correlation, Participation::once()), Rho{0.5});
    const Spend spend(correlation, Participation::once(), sigma);
    EXPECT_LE(spend.limit().value(), 0.5);
    EXPECT_LE(spend.after(StepCount{UINT64_MAX}).value(), 0.5);
    EXPECT_GE(spend.limit().value(), 0.5 * (1 - 1e-13));
  }
}

}  // namespace
}  // namespace nustream::privacy
