// The theory that a plan prints, against numbers worked out from the papers by another program
// (CDP+ section 2 and appendix C).
#include "nustream/privacy/plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace nustream::privacy {
namespace {

using noise::Correlation;

Correlation exact_nu(double nu) {
  return Correlation{noise::NuFtrl{Damping{nu}, {}}};
}
const Correlation independent{noise::Independent{}};
const Budget one{Rho{1}, Participation::once(), Displacement{1}};

LocalProblem mean(double step_size) {
  return {{1.0}, StepSize{step_size}, Curvature::fixed};
}

/// λ_k = 1/k, k = 1 … 128, η = .02.
LocalProblem decaying_regression() {
  std::vector<double> eigenvalues(128);
  for (std::size_t k = 0; k < eigenvalues.size(); ++k) eigenvalues[k] = 1 / static_cast<double>(k + 1);
  return {eigenvalues, StepSize{0.02}, Curvature::gaussian_features};
}

TEST(PlanReference, MeanGainOverIndependentNoise) {
  struct Case {
    double step_size, ratio;
  };
  for (const auto& [step_size, ratio] : {Case{.5, .86378972}, Case{.1, .40049096}, Case{.02, .14647087},
                                         Case{.01, .090868349}, Case{.001, .016373732}}) {
    const double gain = predicted_excess(exact_nu(step_size), mean(step_size), one) /
                        predicted_excess(independent, mean(step_size), one);
    EXPECT_NEAR(gain, ratio, 1e-7 * ratio) << step_size;
    EXPECT_EQ(suggested_nu(mean(step_size), Participation::once()).value(), step_size);
  }
}

TEST(PlanReference, RegressionWithTheNoiseOfGaussianFeatures) {
  const LocalProblem problem = decaying_regression();
  EXPECT_NEAR(predicted_excess(independent, problem, one), .33879, 5e-6);
  EXPECT_NEAR(predicted_excess(exact_nu(.02 / 128), problem, one), .0047923, 5e-8);
  const double trace = std::accumulate(problem.eigenvalues.begin(), problem.eigenvalues.end(), 0.0);
  const Correlation damped{noise::DampedAntiPgd{Damping{std::sqrt(.02 * trace / 128)}}};
  EXPECT_NEAR(predicted_excess(damped, problem, one), .014785, 5e-7);
  // The reference's best ν, printed as 6.2e-4 with .0044704, is the best of a grid (6.17e-4 reproduces it). The
  // valley is flat: 20-digit quadrature (mpmath 1.3.0) gives .004470405229 at this ν, and the lowest value,
  // .004469502, at 6.56e-4.
  EXPECT_NEAR(predicted_excess(exact_nu(6.17e-4), problem, one), .004470405229, 1e-12);
  const Damping best = suggested_nu(problem, Participation::once());
  EXPECT_NEAR(best.value(), 6.56e-4, 2e-6);
  EXPECT_NEAR(predicted_excess(exact_nu(best.value()), problem, one), .004469502, 2e-9);
}

TEST(PlanReference, RationalCorrelationsCostLittle) {
  struct Case {
    double nu;
    std::size_t poles;
    double percent, last_digit;
  };
  for (const auto& [nu, poles, percent, last_digit] :
       {Case{1e-4, 4, .74, .01}, Case{1e-4, 5, .13, .01}, Case{1e-4, 6, .022, .001}, Case{1e-3, 4, .12, .01},
        Case{1e-3, 5, .014, .001}, Case{1e-3, 6, .0015, .0001}, Case{1e-2, 4, .006, .001},
        Case{1e-2, 5, .0003, .0001}, Case{1e-2, 6, .00002, .00001}}) {
    const Correlation rational{noise::Rational::nu_ftrl(Damping{nu}, poles)};
    EXPECT_NEAR(100 * relative_excess(rational, exact_nu(nu), mean(nu), Participation::once()), percent, last_digit)
        << nu << ", " << poles;
  }
  const Correlation forty{noise::Rational::nu_ftrl(Damping{1e-4}, 40)};
  EXPECT_NEAR(relative_excess(forty, exact_nu(1e-4), mean(1e-4), Participation::once()), 0, 1e-9);
}

}  // namespace
}  // namespace nustream::privacy
