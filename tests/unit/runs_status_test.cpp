// Verdicts on runs whose nature is known.
#include "nustream/inference/runs_status.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace nustream::inference {
namespace {

/// What the runs of a table are drawn with: every coordinate forgets its start, and its noise, with 1/memory a step.
struct Runs {
  std::size_t count;
  std::size_t dimension;
  std::size_t steps;
  double memory;  ///< steps; 0: iterates are independent
  double start;   ///< in standard deviations of an iterate that has settled
};

/// The stretches of the later half of one run.
std::vector<double> stretches_of(const Runs& runs, std::mt19937_64& engine) {
  std::normal_distribution<double> normal;
  const double kept = runs.memory == 0 ? 0 : std::exp(-1 / runs.memory);
  const std::size_t length = runs.steps / 2 / stretches_of_a_run;
  std::vector<double> means(stretches_of_a_run * runs.dimension);
  for (std::size_t j = 0; j < runs.dimension; ++j) {
    double value = runs.start;
    for (std::size_t step = 0; step < runs.steps; ++step) {
      value = kept * value + std::sqrt(1 - kept * kept) * normal(engine);
      const std::size_t before = runs.steps - stretches_of_a_run * length;
      if (step < before) continue;
      means[(step - before) / length * runs.dimension + j] += value / static_cast<double>(length);
    }
  }
  return means;
}

/// How many of `draws` estimates of so many runs are not `settled`.
int unsettled(const Runs& runs, int draws, std::mt19937_64& engine, double false_alarm = 0.06) {
  int count = 0;
  for (int i = 0; i < draws; ++i) {
    std::vector<std::vector<double>> all;
    for (std::size_t r = 0; r < runs.count; ++r) all.push_back(stretches_of(runs, engine));
    if (runs_status(all, runs.dimension, false_alarm).verdict != Verdict::settled) ++count;
  }
  return count;
}

// 10,000 estimates whose iterates are independent, at a false alarm rate of .05: at that rate the share of alarms
// exceeds .059 (four standard errors above) once in 30,000 seeds.
TEST(RunsStatus, AlarmsFalselyAsOftenAsItSays) {
  std::mt19937_64 engine(21);
  for (const std::size_t count : {std::size_t{2}, std::size_t{4}, std::size_t{10}}) {
    const int alarms = unsettled({count, 3, 16, 0, 0}, 10'000, engine, 0.05);
    EXPECT_LT(alarms, 590) << count;
    EXPECT_GT(alarms, 300) << count;
  }
}

// 200 estimates each. Memories of up to a fortieth of a run leave the rate near .06: above 30 of 200 would be seen
// once in a million draws at that rate. A memory of a fifth of a run is seen in four estimates of five, and one as
// long as a run in all.
TEST(RunsStatus, SeesMemoriesThatAreLongAndNoOthers) {
  std::mt19937_64 engine(22);
  EXPECT_LT(unsettled({10, 2, 400, 2, 5}, 200, engine), 30);
  EXPECT_LT(unsettled({10, 2, 400, 10, 5}, 200, engine), 30);
  EXPECT_GT(unsettled({10, 2, 400, 80, 5}, 200, engine), 140);
  EXPECT_GT(unsettled({10, 2, 400, 400, 5}, 200, engine), 190);
  // Noise that hides the movement does not hide the memory.
  EXPECT_GT(unsettled({10, 2, 400, 4000, 0}, 200, engine), 190);
  EXPECT_GT(unsettled({5, 2, 400, 4000, 5}, 200, engine), 170);
}

TEST(RunsStatus, TellsWhatGoesOnFromWhatComesToRest) {
  std::mt19937_64 engine(23);
  std::normal_distribution<double> normal;
  const auto runs_with = [&](auto shift) {
    std::vector<std::vector<double>> all(10);
    for (std::vector<double>& run : all) {
      for (std::size_t i = 0; i < stretches_of_a_run; ++i) run.push_back(normal(engine) + shift(double(i)));
    }
    return runs_status(all, 1).verdict;
  };
  EXPECT_EQ(runs_with([](double at) { return 2 * at; }), Verdict::drifting);
  EXPECT_EQ(runs_with([](double at) { return 20 * std::exp(-at); }), Verdict::converging);
  EXPECT_EQ(runs_with([](double) { return 7.0; }), Verdict::settled);
}

TEST(RunsStatus, SeesRunsThatDivergeAndWhatIsNotANumber) {
  std::mt19937_64 engine(24);
  std::normal_distribution<double> normal;
  std::vector<std::vector<double>> all(4);
  for (std::vector<double>& run : all) {
    for (std::size_t i = 0; i < stretches_of_a_run; ++i) run.push_back(std::pow(4.0, double(i)) * normal(engine));
  }
  EXPECT_EQ(runs_status(all, 1).verdict, Verdict::diverged);
  all[2][3] = std::nan("");
  EXPECT_EQ(runs_status(all, 1).verdict, Verdict::diverged);
}

TEST(RunsStatus, IsSettledWhereNothingMovesAtAll) {
  const std::vector<std::vector<double>> still(3, std::vector<double>(2 * stretches_of_a_run, 3.0));
  EXPECT_EQ(runs_status(still, 2).verdict, Verdict::settled);
}

}  // namespace
}  // namespace nustream::inference
