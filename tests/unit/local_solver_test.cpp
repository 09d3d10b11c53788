// The solver against plain fits, and what is said where the noise is too large.
#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/inference/local_solver.h"

namespace nustream::inference {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// ---- fits without noise

struct Table {
  MatrixXd x;
  VectorXd y;
  std::vector<double> flat;  ///< x, row-major
};

Table table(Index n, const VectorXd& truth, std::uint64_t seed,
            const std::function<double(double, std::mt19937_64&)>& label) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Table result{MatrixXd(n, truth.size()), VectorXd(n), {}};
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < truth.size(); ++j) {
      const double before = j > 0 ? result.x(i, j - 1) : 0;
      result.x(i, j) = 0.4 * before + normal(random);  // so that neighbouring columns are correlated
    }
    result.y(i) = label(result.x.row(i).dot(truth), random);
    for (Index j = 0; j < truth.size(); ++j) result.flat.push_back(result.x(i, j));
  }
  return result;
}

LocalMoments moments_of(const Table& table) {
  const auto n = static_cast<double>(table.x.rows());
  const MatrixXd second = table.x.transpose() * table.x / n;
  const VectorXd cross = table.x.transpose() * table.y / n;
  return {static_cast<std::uint64_t>(table.x.rows()),
          {second.data(), second.data() + second.size()},
          {cross.data(), cross.data() + cross.size()}};
}

LocalNoise noise(double sd1, double sd2) {
  return {NoiseStddev{sd1}, NoiseStddev{sd2}};
}

const LocalNoise next_to_none = noise(1e-12, 1e-12);

VectorXd vector(const std::vector<double>& values) {
  return Eigen::Map<const VectorXd>(values.data(), static_cast<Index>(values.size()));
}

TEST(LocalSolver, WithoutNoiseIsLeastSquares) {
  VectorXd truth(3);
  truth << 0.7, -1.1, 0.2;
  std::normal_distribution<double> normal;
  const Table data = table(500, truth, 3, [&](double mean, auto& random) { return mean + 0.5 * normal(random); });
  const LocalEstimate estimate = solve_local(moments_of(data), next_to_none, {}, {.family = GlmFamily::linear});
  const VectorXd expected = data.x.colPivHouseholderQr().solve(data.y);
  ASSERT_TRUE(estimate.model);
  EXPECT_LT((vector(*estimate.model) - expected).norm(), 1e-12);
  EXPECT_EQ(estimate.scale->c, 1);
  EXPECT_TRUE(estimate.spectrum.definite);
  EXPECT_EQ(estimate.spectrum.repair, LocalRepair::none);
}

/// The maximum of the likelihood without an intercept, by Newton's method.
VectorXd logistic_fit(const Table& data) {
  VectorXd w = VectorXd::Zero(data.x.cols());
  for (int step = 0; step < 30; ++step) {
    const VectorXd p = (1 + (-(data.x * w).array()).exp()).inverse();
    const MatrixXd hessian = data.x.transpose() * (p.array() * (1 - p.array())).matrix().asDiagonal() * data.x;
    w += hessian.ldlt().solve(data.x.transpose() * (data.y - p));
  }
  return w;
}

// Brillinger's lemma: with Gaussian features the scaled least squares are the logistic model. At n = 400,000 both
// have standard errors of some .005 for a coefficient.
TEST(LocalSolver, WithoutNoiseIsTheLogisticModelOfGaussianFeatures) {
  VectorXd truth(3);
  truth << 0.8, -0.5, 0.3;
  std::uniform_real_distribution<double> uniform;
  const Table data = table(400'000, truth, 4, [&](double mean, auto& random) {
    return uniform(random) < 1 / (1 + std::exp(-mean)) ? 1.0 : 0.0;
  });
  const LocalEstimate estimate = solve_local(moments_of(data), next_to_none, {.x = data.flat}, {});
  ASSERT_TRUE(estimate.model);
  const VectorXd fitted = logistic_fit(data);
  EXPECT_LT((vector(*estimate.model) - fitted).lpNorm<Eigen::Infinity>(), 0.01);
  EXPECT_LT((vector(*estimate.model) - truth).lpNorm<Eigen::Infinity>(), 0.03);
  EXPECT_LT(estimate.public_mean_shift, 0.01);
}

TEST(LocalSolver, WithoutNoiseIsThePoissonModelOfGaussianFeatures) {
  VectorXd truth(2);
  truth << 0.4, -0.3;
  const Table data = table(400'000, truth, 5, [](double mean, auto& random) {
    return static_cast<double>(std::poisson_distribution<int>(std::exp(mean))(random));
  });
  const LocalEstimate estimate =
      solve_local(moments_of(data), next_to_none, {.x = data.flat}, {.family = GlmFamily::poisson});
  ASSERT_TRUE(estimate.model);
  EXPECT_LT((vector(*estimate.model) - truth).lpNorm<Eigen::Infinity>(), 0.02);
}

// Reports of a table through the real mechanism give the fit without noise, up to what the noise allows.
TEST(LocalSolver, ThroughRealReportsComesCloseToTheFit) {
  VectorXd truth(2);
  truth << 1.2, -0.8;
  std::uniform_real_distribution<double> uniform;
  const Table data = table(60'000, truth, 6, [&](double mean, auto& random) {
    return uniform(random) < 1 / (1 + std::exp(-mean)) ? 1.0 : 0.0;
  });
  const LocalBounds bounds{.dimension = 2, .l2 = 4.0, .label_centre = 0.5};
  const LocalMechanism mechanism(bounds, {Epsilon{20}, Delta{1e-5}, LocalCalibration::exact, LocalNorm::l2, 0.3});
  std::mt19937_64 random(7);
  LocalCollector collector(2);
  std::vector<std::uint64_t> words(mechanism.words());
  std::vector<std::int64_t> report(mechanism.report_size());
  for (Index i = 0; i < data.x.rows(); ++i) {
    for (std::uint64_t& word : words) word = random();
    std::vector<double> x{data.x(i, 0), data.x(i, 1)};
    static_cast<void>(mechanism.randomize(x, data.y(i), words, report));
    collector.add(report);
  }
  const LocalMoments moments =
      local_moments(collector, mechanism.second_moment_spacing(), mechanism.cross_moment_spacing());
  const LocalEstimate estimate = solve_local(moments, mechanism.noise(), {.x = data.flat}, {});
  ASSERT_TRUE(estimate.model);
  EXPECT_FALSE(estimate.noise_exceeds_signal());
  // The noise of ŵ is c σ_2/√n over an eigenvalue of about 1, and σ_1 ‖ŵ_ols‖ likewise: some .05. The test allows 5
  // of that.
  EXPECT_LT((vector(*estimate.model) - logistic_fit(data)).lpNorm<Eigen::Infinity>(), 0.25);
}

// ---- noise that is too large

LocalMoments small_moments(std::vector<double> second, std::vector<double> cross, std::uint64_t n = 100) {
  return {n, std::move(second), std::move(cross)};
}

TEST(LocalSolver, AnIndefiniteSumIsReportedAndRidged) {
  const LocalMoments moments = small_moments({1, 2, 2, 1}, {1, 0});  // with eigenvalues −1 and 3
  const double level = 2 * 1.0 * std::sqrt(2.0 / 100);
  const LocalEstimate ridged = solve_local(moments, noise(1, 1), {}, {.family = GlmFamily::linear});
  EXPECT_FALSE(ridged.spectrum.definite);
  EXPECT_TRUE(std::isinf(ridged.spectrum.condition));
  EXPECT_NEAR(ridged.spectrum.smallest, -1, 1e-12);
  EXPECT_NEAR(ridged.spectrum.largest, 3, 1e-12);
  EXPECT_EQ(ridged.spectrum.repair, LocalRepair::ridge);
  EXPECT_NEAR(ridged.spectrum.ridge, 1 + level, 1e-12);
  MatrixXd lifted(2, 2);
  lifted << 2 + level, 2, 2, 2 + level;
  EXPECT_LT((vector(ridged.ols) - lifted.inverse() * VectorXd::Unit(2, 0)).norm(), 1e-9);

  const LocalEstimate cut =
      solve_local(moments, noise(1, 1), {}, {.family = GlmFamily::linear, .repair = LocalRepair::pseudo_inverse});
  EXPECT_EQ(cut.spectrum.repair, LocalRepair::pseudo_inverse);
  EXPECT_EQ(cut.spectrum.rank, 1u);
  EXPECT_LT((vector(cut.ols) - VectorXd::Constant(2, 1.0 / 6)).norm(), 1e-12);

  const LocalEstimate plain =
      solve_local(moments, noise(1, 1), {}, {.family = GlmFamily::linear, .repair = LocalRepair::none});
  EXPECT_EQ(plain.spectrum.repair, LocalRepair::none);
  VectorXd inverse(2);
  inverse << -1.0 / 3, 2.0 / 3;
  EXPECT_LT((vector(plain.ols) - inverse).norm(), 1e-12);
}

TEST(LocalSolver, ARidgeOfTheSettingsIsAlwaysAdded) {
  const LocalEstimate estimate = solve_local(small_moments({2, 0, 0, 3}, {1, 1}, 1'000'000), noise(1, 1), {},
                                             {.family = GlmFamily::linear, .ridge = 0.5});
  EXPECT_NEAR(estimate.ols[0], 0.4, 1e-12);
  EXPECT_EQ(estimate.spectrum.ridge, 0.5);
  EXPECT_EQ(estimate.spectrum.repair, LocalRepair::none);
}

// With collinear columns no direction is made up, however many reports there are.
TEST(LocalSolver, CollinearFeaturesAreIllConditionedAndRepaired) {
  const LocalEstimate estimate = solve_local(small_moments({1, 1, 1, 1}, {1, 1}, 1'000'000'000), noise(1, 1), {},
                                             {.family = GlmFamily::linear, .repair = LocalRepair::pseudo_inverse});
  EXPECT_EQ(estimate.spectrum.rank, 1u);
  EXPECT_NEAR(estimate.ols[0], 0.5, 1e-9);
  EXPECT_NEAR(estimate.ols[1], 0.5, 1e-9);
  EXPECT_TRUE(estimate.second_moment.exceeded);
}

TEST(LocalSolver, WithoutPublicRowsThereIsADirectionAndNoModel) {
  const LocalEstimate estimate = solve_local(small_moments({1, 0, 0, 1}, {1, 1}), noise(1, 1), {}, {});
  EXPECT_FALSE(estimate.scale);
  EXPECT_FALSE(estimate.model);
  EXPECT_EQ(estimate.ols.size(), 2u);
}

TEST(LocalSolver, WithoutARootThereIsNoModel) {
  const std::vector<double> rows{30, 0, 0, 40, -50, 10};
  const LocalEstimate estimate =
      solve_local(small_moments({1, 0, 0, 1}, {1, 1}, 1'000'000), noise(1, 1), {.x = rows}, {});
  ASSERT_TRUE(estimate.scale);
  EXPECT_FALSE(estimate.scale->exists);
  EXPECT_FALSE(estimate.model);
}

// The n that the message names: with that many reports the smallest eigenvalue of the noisy sum is about as likely
// below 0 as above. With a quarter of them it is mostly below, and with four times as many hardly ever.
TEST(LocalSolver, TheNamedNumberOfReportsIsWhereTheSumBecomesDefinite) {
  const std::size_t p = 12;
  std::mt19937_64 random(8);
  std::normal_distribution<double> normal;
  const double sd = 0.7;
  const double eigenvalue = 0.05;
  std::vector<double> rows;  // public rows whose second moment is eigenvalue · I
  for (std::size_t i = 0; i < p; ++i) {
    for (std::size_t j = 0; j < p; ++j) rows.push_back(i == j ? std::sqrt(eigenvalue * static_cast<double>(p)) : 0);
  }
  const auto moments = [&](double n) {
    std::vector<double> second(p * p);
    for (std::size_t i = 0; i < p; ++i) {
      for (std::size_t j = i; j < p; ++j) {
        const double mean = i == j ? eigenvalue : 0;
        second[i * p + j] = second[j * p + i] = mean + sd / std::sqrt(n) * normal(random);
      }
    }
    return LocalMoments{static_cast<std::uint64_t>(n), second, std::vector<double>(p, 1.0)};
  };
  const LocalSolverSettings linear{.family = GlmFamily::linear};
  const LocalEstimate first = solve_local(moments(1000), noise(sd, 0.01), {.x = rows}, linear);
  const double needed = first.second_moment.reports_needed;
  EXPECT_NEAR(needed, 4 * sd * sd * static_cast<double>(p) / (eigenvalue * eigenvalue), 1e-6 * needed);
  EXPECT_TRUE(first.noise_exceeds_signal());
  const auto definite = [&](double n) {
    int count = 0;
    for (int trial = 0; trial < 200; ++trial) {
      const LocalEstimate estimate = solve_local(moments(n), noise(sd, 0.01), {.x = rows}, linear);
      count += estimate.spectrum.definite ? 1 : 0;
      EXPECT_EQ(estimate.second_moment.exceeded, n < needed);
    }
    return count;
  };
  EXPECT_LT(definite(needed / 4), 20);
  EXPECT_GT(definite(4 * needed), 195);
}

// The labels' part: its debiased size is the true one, and the n that is named is right where the size shows.
TEST(LocalSolver, TheLabelsSignalIsJudgedWithoutItsNoise) {
  const std::size_t p = 10;
  std::mt19937_64 random(9);
  std::normal_distribution<double> normal;
  const double sd = 2;
  std::vector<double> identity(p * p, 0.0);
  for (std::size_t j = 0; j < p; ++j) identity[j * p + j] = 1;
  const std::vector<double> signal(p, 0.01);
  const double length = 0.01 * std::sqrt(static_cast<double>(p));
  const double needed = sd * sd * static_cast<double>(p) / (length * length);
  const auto estimate = [&](double n, double size) {
    std::vector<double> cross = signal;
    for (double& entry : cross) entry = entry * size + sd / std::sqrt(n) * normal(random);
    return solve_local({static_cast<std::uint64_t>(n), identity, cross}, noise(1e-6, sd), {},
                       {.family = GlmFamily::linear})
        .cross_moment;
  };
  int right = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const SignalToNoise seen = estimate(20 * needed, 1);
    EXPECT_FALSE(seen.exceeded);
    EXPECT_FALSE(seen.at_least);
    right += std::fabs(seen.reports_needed / needed - 1) < 0.5 ? 1 : 0;
    const SignalToNoise unseen = estimate(needed / 1000, 1);
    if (unseen.exceeded && unseen.at_least) {
      EXPECT_LE(unseen.reports_needed, 2 * needed);
    }
  }
  EXPECT_GT(right, 85);
  int claimed = 0;  // trials that claim a signal where there is none
  for (int trial = 0; trial < 400; ++trial) claimed += estimate(1e6, 0).exceeded ? 0 : 1;
  EXPECT_LT(claimed, 40);
}

TEST(LocalSolver, RefusesWhatDoesNotFit) {
  const LocalMoments moments = small_moments({1, 0, 0, 1}, {1, 1});
  EXPECT_THROW(static_cast<void>(solve_local(small_moments({1, 0, 0}, {1, 1}), noise(1, 1), {}, {})),
               InvalidParameter);
  EXPECT_THROW(static_cast<void>(solve_local(small_moments({1}, {1}, 0), noise(1, 1), {}, {})), InvalidParameter);
  const std::vector<double> odd{1, 2, 3};
  EXPECT_THROW(static_cast<void>(solve_local(moments, noise(1, 1), {.x = odd}, {})), InvalidParameter);
  const std::vector<double> rows{1, 2};
  const std::vector<double> weights{1, 1};
  EXPECT_THROW(static_cast<void>(solve_local(moments, noise(1, 1), {.x = rows, .weights = weights}, {})),
               InvalidParameter);
  EXPECT_THROW(static_cast<void>(solve_local(moments, noise(1, 1), {}, {.ridge = -1})), InvalidParameter);
  const std::vector<double> infinite{1, std::numeric_limits<double>::infinity()};
  EXPECT_THROW(static_cast<void>(solve_local(moments, noise(1, 1), {.x = infinite}, {})), InvalidParameter);
}

}  // namespace
}  // namespace nustream::inference
