#include "nustream/descent/averaging.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "nustream/base/error.h"

namespace nustream::descent {
namespace {

using Kind = Averaging::Kind;

std::vector<double> random_iterates(std::size_t count) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal(3, 2);
  std::vector<double> iterates(count);
  for (double& entry : iterates) entry = normal(random);
  return iterates;
}

// Σ_n weight(n) θ_n / Σ_n weight(n) over the step counts n = from + 1 … steps, where iterates[n − 1] is the iterate
// after n steps.
template <class Weight>
long double direct(const std::vector<double>& iterates, std::size_t from, std::size_t steps, const Weight& weight) {
  long double total = 0;
  long double weights = 0;
  for (std::size_t n = from + 1; n <= steps; ++n) {
    total += weight(n) * static_cast<long double>(iterates[n - 1]);
    weights += weight(n);
  }
  return total / weights;
}

TEST(Average, LastKeepsNone) {
  Average average({Kind::last, 0, 0.5}, 1);
  average.update(std::vector{1.0}, StepCount{1});
  EXPECT_TRUE(average.value().empty());
  EXPECT_EQ(average.weight(), 0);
}

TEST(Average, TailIsTheMeanOfTheIteratesAfterFrom) {
  const auto iterates = random_iterates(2000);
  Average average({Kind::tail, 1000, 0.5}, 1);
  for (std::size_t n = 1; n <= iterates.size(); ++n) {
    average.update(std::vector{iterates[n - 1]}, StepCount{n});
    ASSERT_EQ(average.value().empty(), n <= 1000);
    if (n <= 1000) continue;
    const long double expected = direct(iterates, 1000, n, [](std::size_t) { return 1.0L; });
    ASSERT_NEAR(average.value()[0], static_cast<double>(expected), 1e-13);
  }
  EXPECT_EQ(average.weight(), 1000);
}

TEST(Average, ExponentialIsNormalisedFromItsFirstIterateOn) {
  const auto iterates = random_iterates(500);
  Average average({Kind::exponential, 10, 0.99}, 1);
  for (std::size_t n = 1; n <= iterates.size(); ++n) {
    average.update(std::vector{iterates[n - 1]}, StepCount{n});
    if (n <= 10) continue;
    const auto weight = [&](std::size_t age) { return powl(0.99L, static_cast<long double>(n - age)); };
    ASSERT_NEAR(average.value()[0], static_cast<double>(direct(iterates, 10, n, weight)), 1e-12);
  }
}

TEST(Average, DoesNotOverflowAsASumWould) {
  Average average({Kind::tail, 0, 0.5}, 1);
  for (std::size_t n = 1; n <= 100; ++n) average.update(std::vector{1e308}, StepCount{n});
  EXPECT_EQ(average.value()[0], 1e308);
}

TEST(Average, GoesOnFromItsWeightAndValue) {
  const auto iterates = random_iterates(200);
  for (const Averaging& settings : {Averaging{Kind::tail, 20, 0.5}, Averaging{Kind::exponential, 20, 0.9}}) {
    Average undisturbed(settings, 1);
    Average first(settings, 1);
    Average second(settings, 1);
    for (std::size_t n = 1; n <= 200; ++n) {
      undisturbed.update(std::vector{iterates[n - 1]}, StepCount{n});
      (n <= 77 ? first : second).update(std::vector{iterates[n - 1]}, StepCount{n});
      if (n == 77) second.restore(first.weight(), first.value(), StepCount{n});
    }
    EXPECT_EQ(undisturbed.value()[0], second.value()[0]);
    EXPECT_EQ(undisturbed.weight(), second.weight());
  }
}

TEST(Average, RefusesAWeightThatItCannotHave) {
  const std::vector<double> value = {1.0};
  Average tail({Kind::tail, 10, 0.5}, 1);
  EXPECT_NO_THROW(tail.restore(5, value, StepCount{15}));
  EXPECT_NO_THROW(tail.restore(6, value, StepCount{15})) << "one iterate of a run that it went on from";
  EXPECT_NO_THROW(tail.restore(1, value, StepCount{10}));
  EXPECT_THROW(tail.restore(4, value, StepCount{15}), InvalidParameter);
  EXPECT_THROW(tail.restore(5.5, value, StepCount{15}), InvalidParameter);
  EXPECT_THROW(tail.restore(0, {}, StepCount{15}), InvalidParameter);
  EXPECT_THROW(tail.restore(0.5, value, StepCount{10}), InvalidParameter);
  EXPECT_THROW(tail.restore(std::numeric_limits<double>::infinity(), value, StepCount{10}), InvalidParameter);
  EXPECT_THROW(tail.restore(5, {}, StepCount{15}), InvalidParameter);
  Average exponential({Kind::exponential, 0, 0.9}, 1);
  EXPECT_NO_THROW(exponential.restore(10, value, StepCount{1'000'000}));
  EXPECT_THROW(exponential.restore(11, value, StepCount{1'000'000}), InvalidParameter);
  EXPECT_THROW(exponential.restore(std::nan(""), value, StepCount{5}), InvalidParameter);
  Average last({Kind::last, 0, 0.5}, 1);
  EXPECT_THROW(last.restore(1, value, StepCount{1}), InvalidParameter);
  EXPECT_THROW(last.restore(-0.0, {}, StepCount{1}), InvalidParameter);
}

// The first run averages four of its six iterates, and the second five of its seven: each leaves out the first two of
// its own.
TEST(Average, GoesOnFromAnotherAsIfItsIteratesWereItsOwn) {
  for (const Averaging settings : {Averaging{Kind::tail, 2, 0.5}, Averaging{Kind::exponential, 2, 0.9}}) {
    Average first(settings, 1);
    Average second(settings, 1);
    for (std::uint64_t n = 1; n <= 6; ++n) first.update(std::vector{static_cast<double>(n * n)}, StepCount{n});
    second.go_on_from(first.weight(), first.value());
    EXPECT_EQ(second.value()[0], first.value()[0]) << "shown until this run's own iterates are taken in";
    for (std::uint64_t n = 1; n <= 7; ++n) second.update(std::vector{static_cast<double>(100 + n)}, StepCount{n});
    const double decay = settings.kind == Kind::tail ? 1.0 : 0.9;
    double total = 0;
    double weights = 0;
    for (const double iterate : {9.0, 16.0, 25.0, 36.0, 103.0, 104.0, 105.0, 106.0, 107.0}) {
      total = decay * total + iterate;
      weights = decay * weights + 1;
    }
    EXPECT_NEAR(second.value()[0], total / weights, 1e-12);
    EXPECT_NEAR(second.weight(), weights, 1e-12);
    Average again(settings, 1);
    EXPECT_NO_THROW(again.restore(second.weight(), second.value(), StepCount{7}));
  }
}

TEST(Average, GoesOnUnderAnotherRuleWithAWeightThatIsPossibleThere) {
  const std::vector<double> value = {1.0};
  Average exponential({Kind::exponential, 0, 0.9}, 1);
  exponential.go_on_from(1000, value);
  EXPECT_NEAR(exponential.weight(), 10, 1e-12) << "1/(1 - decay): where its own weight settles";
  Average tail({Kind::tail, 0, 0.5}, 1);
  tail.go_on_from(9.99, value);
  EXPECT_EQ(tail.weight(), 9) << "whole iterates";
  Average last({Kind::last, 0, 0.5}, 1);
  EXPECT_THROW(last.go_on_from(1, value), InvalidParameter);
  EXPECT_THROW(tail.go_on_from(0, value), InvalidParameter);
  EXPECT_THROW(tail.go_on_from(std::nan(""), value), InvalidParameter);
  EXPECT_THROW(tail.go_on_from(1, std::vector{1.0, 2.0}), InvalidParameter);
  EXPECT_THROW(tail.go_on_from(1, std::vector{std::nan("")}), InvalidParameter);
}

TEST(Average, RefusesADecayOutsideItsRange) {
  for (const double decay : {0.0, 1.0, -0.5, std::nan("")}) {
    EXPECT_THROW((Average{{Kind::exponential, 0, decay}, 1}), InvalidParameter);
    EXPECT_NO_THROW((Average{{Kind::tail, 0, decay}, 1}));
  }
}

TEST(Average, WeighsManyStepsAsEach) {
  for (const Averaging settings :
       {Averaging{}, Averaging{Averaging::Kind::tail, 20, 0.5}, Averaging{Averaging::Kind::exponential, 20, 0.9}}) {
    Average one(settings, 1);
    Average many(settings, 1);
    std::vector<double> gains(13);
    for (std::uint64_t step = 0; step < 65; step += gains.size()) {
      many.weigh(StepCount{step}, gains);
      for (std::size_t i = 0; i < gains.size(); ++i) EXPECT_EQ(gains[i], one.weigh(StepCount{step + i + 1}));
    }
  }
}

}  // namespace
}  // namespace nustream::descent
