// Verdicts on paths whose nature is known.
#include "nustream/inference/path_status.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

namespace nustream::inference {
namespace {

/// A path of count × d batch means: independent normal numbers, plus `shift` of the batch's place in [0, 1].
std::vector<double> path(
    std::size_t count, std::size_t d, std::mt19937_64& engine,
    const std::function<double(double)>& shift = [](double) { return 0.0; }) {
  std::normal_distribution<double> normal;
  std::vector<double> means;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < d; ++j) {
      means.push_back(normal(engine) + shift(static_cast<double>(i) / static_cast<double>(count)));
    }
  }
  return means;
}

// 20,000 settled paths at a false alarm rate of .05: at that rate the share of alarms exceeds .056 (four standard
// errors above) once in 30,000 seeds. Bonferroni's correction over dependent tests keeps the rate below .05, but not
// at less than half of it.
TEST(PathStatus, AlarmsFalselyAsOftenAsItSays) {
  std::mt19937_64 engine(11);
  for (const std::size_t count : {std::size_t{32}, std::size_t{45}, std::size_t{63}}) {
    int alarms = 0;
    constexpr int paths = 20'000;
    for (int i = 0; i < paths; ++i) {
      if (path_status(path(count, 3, engine), 3, 0.05).verdict != Verdict::settled) ++alarms;
    }
    EXPECT_LT(alarms, 0.056 * paths) << count;
    EXPECT_GT(alarms, 0.02 * paths) << count;
  }
}

// A path that moves evenly, by eight deviations of a batch mean in all, is drifting; one that comes to rest is
// converging.
TEST(PathStatus, TellsDriftFromConvergence) {
  std::mt19937_64 engine(12);
  for (int i = 0; i < 200; ++i) {
    const auto drift = path(40, 2, engine, [](double at) { return 8 * at; });
    EXPECT_NE(path_status(drift, 2).verdict, Verdict::settled);
    const auto rest = path(40, 2, engine, [](double at) { return 60 * std::exp(-12 * at); });
    EXPECT_EQ(path_status(rest, 2).verdict, Verdict::converging);
  }
  const auto fast = path(40, 2, engine, [](double at) { return 40 * at; });
  EXPECT_EQ(path_status(fast, 2).verdict, Verdict::drifting);
}

TEST(PathStatus, SeesWhatDivergesAndWhatIsNotANumber) {
  std::mt19937_64 engine(13);
  std::vector<double> growing = path(40, 1, engine);
  double scale = 1;
  for (double& each : growing) each *= (scale *= 2);
  EXPECT_EQ(path_status(growing, 1).verdict, Verdict::diverged);
  std::vector<double> lost = path(40, 1, engine);
  lost.back() = std::nan("");
  EXPECT_EQ(path_status(lost, 1).verdict, Verdict::diverged);
}

TEST(PathStatus, IsConvergingUntilThereAreEnoughBatches) {
  std::mt19937_64 engine(14);
  EXPECT_EQ(path_status({}, 2).verdict, Verdict::converging);
  EXPECT_EQ(path_status(path(31, 2, engine), 2).verdict, Verdict::converging);
  EXPECT_EQ(path_status(path(32, 2, engine), 2).verdict, Verdict::settled);
}

// An autoregression of .8 over 40 batches, which are worth some nine independent ones.
TEST(PathStatus, SeesBatchesThatRememberEachOther) {
  std::mt19937_64 engine(15);
  std::normal_distribution<double> normal;
  int seen = 0;
  for (int i = 0; i < 200; ++i) {
    std::vector<double> means;
    double value = normal(engine) / 0.6;
    for (int batch = 0; batch < 40; ++batch) means.push_back(value = 0.8 * value + normal(engine));
    seen += path_status(means, 1).verdict == Verdict::settled ? 0 : 1;
  }
  EXPECT_GT(seen, 120);
}

TEST(PathStatus, IsSettledWhereNothingMovesAtAll) {
  EXPECT_EQ(path_status(std::vector<double>(64, 3.0), 2).verdict, Verdict::settled);
}

}  // namespace
}  // namespace nustream::inference
