// Verdicts on paths whose nature is known, and intervals over values that depend on each other.
#include "nustream/inference/path_status.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

namespace nustream::inference {
namespace {

/// count × d, `shift` of a batch's place in [0, 1] added to independent normal means.
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

// 20,000 settled paths at a false alarm of .05: its bound is passed by more than .006 (four standard errors) once in
// 30,000 seeds. Bonferroni over dependent tests keeps it below, but not by half.
TEST(PathStatus, AlarmsFalselyAsOftenAsItSays) {
  std::mt19937_64 engine(11);
  for (const std::size_t count : {std::size_t{16}, std::size_t{23}, std::size_t{31}}) {
    int alarms = 0;
    constexpr int paths = 20'000;
    for (int i = 0; i < paths; ++i) {
      if (path_status(path(count, 3, engine), 3, 0.05).verdict != Verdict::settled) ++alarms;
    }
    EXPECT_LT(alarms, 0.056 * paths) << count;
    EXPECT_GT(alarms, 0.02 * paths) << count;
  }
}

// What moves by eight deviations of a batch mean, evenly, is drifting; what comes to rest is converging.
TEST(PathStatus, TellsDriftFromConvergence) {
  std::mt19937_64 engine(12);
  for (int i = 0; i < 200; ++i) {
    const auto drift = path(24, 2, engine, [](double at) { return 8 * at; });
    EXPECT_NE(path_status(drift, 2).verdict, Verdict::settled);
    const auto rest = path(24, 2, engine, [](double at) { return 60 * std::exp(-12 * at); });
    EXPECT_EQ(path_status(rest, 2).verdict, Verdict::converging);
  }
  const auto fast = path(24, 2, engine, [](double at) { return 40 * at; });
  EXPECT_EQ(path_status(fast, 2).verdict, Verdict::drifting);
}

TEST(PathStatus, SeesWhatDivergesAndWhatIsNotANumber) {
  std::mt19937_64 engine(13);
  std::vector<double> growing = path(24, 1, engine);
  double scale = 1;
  for (double& each : growing) each *= (scale *= 2);
  EXPECT_EQ(path_status(growing, 1).verdict, Verdict::diverged);
  std::vector<double> lost = path(24, 1, engine);
  lost.back() = std::nan("");
  EXPECT_EQ(path_status(lost, 1).verdict, Verdict::diverged);
}

TEST(PathStatus, IsConvergingUntilThereAreTenBatches) {
  std::mt19937_64 engine(14);
  EXPECT_EQ(path_status({}, 2).verdict, Verdict::converging);
  EXPECT_EQ(path_status(path(9, 2, engine), 2).verdict, Verdict::converging);
  EXPECT_EQ(path_status(path(10, 2, engine), 2).verdict, Verdict::settled);
}

// A random walk of batches: neighbours are nearly alike.
TEST(PathStatus, SeesBatchesThatRememberEachOther) {
  std::mt19937_64 engine(15);
  std::normal_distribution<double> normal;
  int seen = 0;
  for (int i = 0; i < 100; ++i) {
    std::vector<double> means;
    double value = 0;
    for (int batch = 0; batch < 24; ++batch) means.push_back(value = 0.95 * value + normal(engine));
    seen += path_status(means, 1).verdict == Verdict::settled ? 0 : 1;
  }
  EXPECT_GT(seen, 70);
}

TEST(PathStatus, IsSettledWhereNothingMovesAtAll) {
  EXPECT_EQ(path_status(std::vector<double>(24, 3.0), 2).verdict, Verdict::settled);
}

// An autoregression of .3: plain intervals cover .84 – .86, these .93 – .96. 8,000 series: a standard error is .0025.
TEST(DependentInterval, CoversWhereNeighboursDependOnEachOther) {
  std::mt19937_64 engine(16);
  std::normal_distribution<double> normal;
  int plain = 0;
  int own = 0;
  constexpr int series = 8'000;
  for (int i = 0; i < series; ++i) {
    std::vector<double> values;
    double value = normal(engine) / std::sqrt(1 - 0.09);
    for (int t = 0; t < 24; ++t) values.push_back(value = 0.3 * value + normal(engine));
    const Interval of_plain = *t_interval(values, 0.95);
    const Interval of_own = *dependent_t_interval(values, 0.95);
    plain += of_plain.lower() <= 0 && 0 <= of_plain.upper() ? 1 : 0;
    own += of_own.lower() <= 0 && 0 <= of_own.upper() ? 1 : 0;
  }
  EXPECT_LT(plain, 0.87 * series);
  EXPECT_GT(own, 0.92 * series);
  EXPECT_LT(own, 0.97 * series);
}

TEST(DependentInterval, IsThePlainOneWhereNeighboursAlternate) {
  const std::vector<double> values{1, -1, 1, -1, 1.5, -1.5};
  EXPECT_NEAR(dependent_t_interval(values, 0.95)->half_width, t_interval(values, 0.95)->half_width, 1e-12);
  EXPECT_FALSE(dependent_t_interval(std::vector<double>{1, 2, 3}, 0.95));
}

}  // namespace
}  // namespace nustream::inference
