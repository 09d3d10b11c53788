// What the limits of a user cost, where it is known in another way: in closed form, by drawing times, and by descents
// without noise over made streams of users. Seeds are fixed.
#include "nustream/inference/limits_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "nustream/base/error.h"

namespace nustream::inference {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Gt;
using ::testing::Lt;
using users::Limits;

Limits counted(std::uint64_t times, std::uint64_t separation) {
  return {privacy::Participation{times, separation}, std::nullopt};
}
Limits massed(double mass) {
  return {std::nullopt, Mass{mass}};
}

/// Bounds that shorten nothing.
const StepBound endless = SumsBound{1e6, 1e6};

// 2e5 draws leave a standard error of at most .004 in a mean below 5; 5 of them are allowed.
TEST(CountedVisits, AreWhatDrawnTimesSay) {
  std::mt19937_64 draw(1);
  std::uniform_real_distribution<double> uniform;
  for (const auto& [visits, most, until] : {std::tuple{9, 4, .3}, {9, 4, .8}, {3, 1, .5}, {5, 5, .5}, {2, 4, .25}}) {
    double sum = 0;
    constexpr int draws = 200'000;
    for (int i = 0; i < draws; ++i) {
      int before = 0;
      for (int j = 0; j < visits; ++j) before += uniform(draw) < until ? 1 : 0;
      sum += std::min(before, most);
    }
    EXPECT_NEAR(counted_visits(visits, most, until), sum / draws, .02) << visits << " " << most << " " << until;
  }
}

TEST(CountedVisits, GoOnSmoothlyBetweenWholeNumbers) {
  for (const double until : {.2, .7}) {
    const double between = counted_visits(9.5, 4.5, until);
    EXPECT_GT(between, counted_visits(9.5, 4, until));
    EXPECT_LT(between, counted_visits(9.5, 5, until));
    EXPECT_NEAR(counted_visits(9, 9 - 1e-9, until), 9 * until, 1e-6);
  }
  EXPECT_DOUBLE_EQ(counted_visits(9, 4, 1), 4);
  EXPECT_DOUBLE_EQ(counted_visits(9, 4, 0), 0);
}

TEST(LimitsCost, IsNothingWhereEverythingCounts) {
  const UserGuess guess{1000, 50, 10, 1, 1, .7, 1, 2};
  const LimitsCost cost = limits_cost(guess, endless, {500, 100}, counted(100'000, 1));
  EXPECT_NEAR(cost.kept, 1, 1e-12);
  EXPECT_NEAR(cost.root(), 0, 1e-7);
}

// One record of each user counts: the weights are 1/U each, against n/Σn. For lognormal n the variance of the
// difference is deviation²·(e^{spread²} − 1)/U; the quantiles that are left out take some of it away.
TEST(LimitsCost, IsThatOfAClusteredSampleWhereEachUserCountsOnce) {
  for (const double deviation : {.3, .9}) {
    const UserGuess guess{1e6, 1000, 1, .5, 1, deviation, 1, 2};
    const LimitsCost cost = limits_cost(guess, endless, {1e9, 1}, counted(1, 1));
    EXPECT_NEAR(cost.between / (deviation * std::sqrt(std::expm1(.25) / 1e6)), 1, .02);
    EXPECT_NEAR(cost.sampling / std::sqrt((1 - deviation * deviation) / 1e6), 1, .01);
    EXPECT_NEAR(cost.kept, 1e-3, 1e-5);
    EXPECT_NEAR(cost.shift, 0, 1e-3);
  }
}

// All users are alike, and one visit of each counts. Their weights then differ as the lengths of visits do: geometric
// with mean m they vary by 1 − 1/m of their squared mean; 16 nodes have a fifth less of it.
TEST(LimitsCost, HasTheLengthsOfVisitsInIt) {
  const UserGuess guess{4000, 1000, 20, 0, 1, .7, 1, 2};
  const LimitsCost cost = limits_cost(guess, endless, {1e7, 1e4}, counted(1, 1));
  EXPECT_NEAR(cost.between / (.7 * std::sqrt(.95 / 4000)), .9, .05);
}

// 100 visits over 1,000 steps, of which one counts every b − 1 steps and a waiting time of 10. The draws leave a
// standard error of .1 in the number that counts.
TEST(LimitsCost, KeepsVisitsThatAreFarEnoughApart) {
  const UserGuess guess{4000, 100, 1, 0, 1, .7, 1, 2};
  std::mt19937_64 draw(3);
  std::bernoulli_distribution visits(.1);
  for (const std::uint64_t separation : {5U, 21U, 60U}) {
    double met = 0;
    for (int user = 0; user < 400; ++user) {
      std::uint64_t next = 0;
      for (std::uint64_t step = 0; step < 1000; ++step) {
        if (!visits(draw) || step < next) continue;
        met += 1. / 400;
        next = step + separation;
      }
    }
    // Of 100 visits some meet in one step.
    const double touched = 1000 * (1 - std::pow(.999, 100));
    const double kept = limits_cost(guess, endless, {1000, 400}, counted(1000, separation)).kept;
    EXPECT_NEAR(kept * touched / met, 1, .06) << separation;
  }
}

// Limits of a norm cut off those who are far from the model, limits of a count do not.
TEST(LimitsCost, HasAShiftWhereNormsDecideAndEffectsDiffer) {
  UserGuess guess{4000, 100, 20, 1, 1, .7, 1, 2};
  const UserCourse course{400, 1000, 133, .1};
  EXPECT_GT(limits_cost(guess, GradientBound{100}, course, massed(1)).shift, .05);
  EXPECT_LT(limits_cost(guess, GradientBound{1e6}, course, counted(4, 10)).shift, 1e-6);
  guess.deviation = 0;
  EXPECT_LT(limits_cost(guess, GradientBound{100}, course, massed(1)).shift, 1e-9);
}

TEST(LimitsCost, LeavesTheStartWhereFewContributionsCount) {
  const UserGuess guess{4000, 100, 1, 0, 1, 0, 2, 2};
  // Each user has 100 visits of one record, and the 4 that count are among the first 4% of the stream.
  const LimitsCost few = limits_cost(guess, GradientBound{10}, {400, 1000, 133, .1}, counted(4, 1));
  EXPECT_GT(few.start, 2 / std::sqrt(2.0) * std::pow(.9, 20));
  const LimitsCost all = limits_cost(guess, GradientBound{10}, {400, 1000, 0, .1}, counted(400, 1));
  EXPECT_NEAR(all.start, 2 / std::sqrt(2.0) / (400 * -std::log(.9)), 1e-3);
}

TEST(LimitsCost, RefusesGuessesOutOfRange) {
  const UserGuess guess{4000, 100, 20, 1, 1, 2, 1, 2};
  EXPECT_THROW(static_cast<void>(limits_cost(guess, endless, {400, 1000}, massed(1))), InvalidParameter);
}

TEST(LongVisit, IsFiveTimesTheBurstWithinAStep) {
  const UserGuess guess{4000, 100, 20, 1, 1, .7, 1, 2};
  EXPECT_DOUBLE_EQ(long_visit(guess, 1000), 100);
  EXPECT_DOUBLE_EQ(long_visit(guess, 60), 60);
}

/// A stream of users whose y = δ_u + ε is predicted from (1, g) with a normal g. θ* is (0, 0).
struct Record {
  std::size_t user;
  double g;
  double y;
};

std::vector<Record> made_stream(const UserGuess& guess, std::mt19937_64& draw) {
  std::normal_distribution<double> normal;
  std::exponential_distribution<double> exponential;
  std::uniform_real_distribution<double> uniform;
  std::vector<std::pair<double, std::vector<Record>>> visits;
  const double own = std::sqrt(guess.residual * guess.residual - guess.deviation * guess.deviation);
  for (std::size_t user = 0; user < static_cast<std::size_t>(guess.users); ++user) {
    const double effect = guess.deviation * (exponential(draw) - 1);
    double left = std::ceil(guess.records * std::exp(guess.spread * normal(draw) - guess.spread * guess.spread / 2));
    while (left > 0) {
      const double length = std::min(left, std::ceil(exponential(draw) * guess.burst));
      left -= length;
      std::vector<Record> visit;
      for (int i = 0; i < static_cast<int>(length); ++i) {
        visit.push_back({user, normal(draw), effect + own * normal(draw)});
      }
      visits.emplace_back(uniform(draw), std::move(visit));
    }
  }
  std::ranges::sort(visits, {}, [](const auto& visit) { return visit.first; });
  std::vector<Record> stream;
  for (const auto& [at, visit] : visits) stream.insert(stream.end(), visit.begin(), visit.end());
  return stream;
}

struct Standing {
  std::uint64_t count = 0;
  std::uint64_t next = 0;
  double mass = 0;
};

/// What of a sum of this norm, in units of the bound, enters a step.
double let_in(const Limits& limits, std::uint64_t step, double norm, Standing& user) {
  if (const auto& participation = limits.participation()) {
    if (user.count == participation->times() || step < user.next) return 0;
    ++user.count;
    user.next = step + participation->separation();
  }
  const double clipped = std::min(1.0, norm);
  double used = clipped;
  if (limits.mass()) used = std::min(used, limits.mass()->value() - user.mass);
  user.mass += used;
  return norm > 0 ? used / norm : 1;
}

/// The average of a descent without noise.
std::array<double, 2> averaged(const std::vector<Record>& stream, double clip, const UserCourse& course,
                               const Limits& limits) {
  std::map<std::size_t, Standing> users;
  std::array<double, 2> theta{.7, -.7};
  std::array<double, 2> sum{0, 0};
  const auto m = static_cast<std::size_t>(course.minibatch);
  const std::size_t steps = stream.size() / m;
  std::size_t averaged = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    std::map<std::size_t, std::array<double, 2>> gradients;
    for (std::size_t i = step * m; i < (step + 1) * m; ++i) {
      const double slope = theta[0] + theta[1] * stream[i].g - stream[i].y;
      gradients[stream[i].user][0] += slope;
      gradients[stream[i].user][1] += slope * stream[i].g;
    }
    for (const auto& [user, gradient] : gradients) {
      const double norm = std::hypot(gradient[0], gradient[1]) / clip;
      const double share = let_in(limits, step, norm, users[user]) * course.step_size / course.minibatch;
      for (std::size_t j = 0; j < 2; ++j) theta[j] -= share * gradient[j];
    }
    if (static_cast<double>(step) < course.from) continue;
    ++averaged;
    for (std::size_t j = 0; j < 2; ++j) sum[j] += theta[j];
  }
  for (double& each : sum) each /= static_cast<double>(averaged);
  return sum;
}

std::array<double, 2> least_squares(const std::vector<Record>& stream) {
  double g = 0, gg = 0, y = 0, gy = 0;
  const auto n = static_cast<double>(stream.size());
  for (const Record& one : stream) {
    g += one.g / n;
    gg += one.g * one.g / n;
    y += one.y / n;
    gy += one.g * one.y / n;
  }
  const double slope = (gy - g * y) / (gg - g * g);
  return {y - slope * g, slope};
}

/// The solution of sums without noise, about a centre that is `off` from θ* in the intercept.
std::array<double, 2> solved(const std::vector<Record>& stream, const SumsBound& bound, double off,
                             const UserCourse& course, const Limits& limits) {
  std::map<std::size_t, Standing> users;
  std::array<double, 5> all{};  // 1, g, g², r, r·g
  const auto m = static_cast<std::size_t>(course.minibatch);
  for (std::size_t step = 0; step < stream.size() / m; ++step) {
    std::map<std::size_t, std::array<double, 5>> sums;
    for (std::size_t i = step * m; i < (step + 1) * m; ++i) {
      const double g = stream[i].g;
      const double r = stream[i].y - off;
      const std::array<double, 5> entries{1, g, g * g, r, r * g};
      for (std::size_t j = 0; j < entries.size(); ++j) sums[stream[i].user][j] += entries[j];
    }
    for (const auto& [user, sum] : sums) {
      const double second = std::sqrt(sum[0] * sum[0] + 2 * sum[1] * sum[1] + sum[2] * sum[2]);
      const double target = std::hypot(sum[3], sum[4]);
      const double norm = std::max(second / (bound.inputs * bound.inputs), target / (bound.inputs * bound.target));
      const double share = let_in(limits, step, norm, users[user]);
      for (std::size_t j = 0; j < sum.size(); ++j) all[j] += share * sum[j];
    }
  }
  const double slope = (all[4] * all[0] - all[1] * all[3]) / (all[2] * all[0] - all[1] * all[1]);
  return {off + (all[3] - slope * all[1]) / all[0], slope};
}

/// The root mean square of the intercept's distance from the least squares of all records, over so many streams. The
/// users' own effects are in the intercept, of which the prediction is. Centres of sums are at either side of θ*.
double simulated(const UserGuess& guess, const StepBound& bound, const UserCourse& course, const Limits& limits) {
  constexpr int streams = 25;
  double squares = 0;
  for (int i = 0; i < streams; ++i) {
    std::mt19937_64 draw(100 + static_cast<std::uint64_t>(i));
    const std::vector<Record> stream = made_stream(guess, draw);
    const auto* sums = std::get_if<SumsBound>(&bound);
    const double off = i % 2 == 0 ? guess.distance : -guess.distance;
    const double answer = sums != nullptr ? solved(stream, *sums, off, course, limits)[0]
                                          : averaged(stream, std::get<GradientBound>(bound).clip, course, limits)[0];
    squares += std::pow(answer - least_squares(stream)[0], 2) / streams;
  }
  return std::sqrt(squares);
}

const UserGuess different{500, 40, 10, 1, 1, .7, 1, 2};
const UserGuess alike{500, 40, 10, 1, 1, 0, 1, 2};
const UserCourse course{200, 100, 66, .1};

const StepBound clipped = GradientBound{50};
const StepBound radii = SumsBound{10, 5};

/// The predicted error over the one that is met, for each of the limits.
std::vector<double> ratios(const UserGuess& guess, const StepBound& bound, const std::vector<Limits>& limits) {
  const bool is_descent = std::holds_alternative<GradientBound>(bound);
  const UserCourse steps{course.steps, course.minibatch, is_descent ? course.from : 0, course.step_size};
  std::vector<double> ratios;
  for (const Limits& one : limits) {
    ratios.push_back(limits_cost(guess, bound, steps, one).root() / simulated(guess, bound, steps, one));
  }
  return ratios;
}

// 25 streams leave a relative standard error of 14%; a factor of 2 is far beyond it.
TEST(LimitsCost, IsWithinAFactorOfTwoOfDescentsOverMadeUsers) {
  const std::vector<Limits> limits{counted(1, 1), counted(4, 5), counted(4, 25), massed(1), massed(4)};
  EXPECT_THAT(ratios(different, clipped, limits), Each(AllOf(Gt(.5), Lt(2))));
  EXPECT_THAT(ratios(alike, clipped, limits), Each(AllOf(Gt(.5), Lt(2))));
}

TEST(LimitsCost, IsWithinAFactorOfTwoOfSolvedSumsOverMadeUsers) {
  const std::vector<Limits> limits{counted(1, 1), counted(4, 5), counted(4, 25), massed(1), massed(4)};
  EXPECT_THAT(ratios(different, radii, limits), Each(AllOf(Gt(.5), Lt(2))));
  EXPECT_THAT(ratios(alike, radii, limits), Each(AllOf(Gt(.5), Lt(2))));
}

TEST(LimitsCost, OrdersLimitsAsDescentsDo) {
  for (const UserGuess& guess : {different, alike}) {
    const auto both = [&](const Limits& limits) {
      return std::pair{limits_cost(guess, clipped, course, limits).root(), simulated(guess, clipped, course, limits)};
    };
    const auto [once, once_met] = both(counted(1, 1));
    const auto [four, four_met] = both(counted(4, 25));
    EXPECT_GT(once, four);
    EXPECT_GT(once_met, four_met);
    if (guess.deviation == 0) continue;
    const auto [little, little_met] = both(massed(1));
    EXPECT_GT(little, once);
    EXPECT_GT(little_met, once_met);
  }
}

}  // namespace
}  // namespace nustream::inference
