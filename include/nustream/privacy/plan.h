// Computes what a plan shows before any data is read: the spend as it grows, the predicted error, and a better ν.
#pragma once

#include <optional>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"
#include "nustream/privacy/epsilon.h"
#include "nustream/privacy/participation.h"
#include "nustream/privacy/stationary.h"
#include "nustream/privacy/zcdp.h"

namespace nustream::privacy {

/// The spend after a number of steps.
struct SpendRow {
  std::optional<StepCount> steps;  ///< empty: the limit of endlessly many steps
  Sensitivity sensitivity;         ///< γ for one participation; for several the largest over those that are allowed
  Rho rho;
  Epsilon epsilon;
};

/// The rows of a plan's table of spends. There are rows at 10³, 10⁴ … 10⁹ steps as far as the horizon goes, one at
/// `also` steps if that is below the horizon, and a last one at the horizon. Where there is no horizon, the last
/// row is the limit; it is left out where the limit is infinite or not known.
[[nodiscard]] std::vector<SpendRow> spend_table(const Spend& spend, Delta delta,
                                                Conversion conversion = Conversion::gaussian,
                                                std::optional<StepCount> also = std::nullopt);

/// The privacy budget under which errors are compared: ρ of the worst unit, spent over all the steps that there
/// may be.
struct Budget {
  Rho rho;
  Participation participation;
  Displacement displacement;  ///< Δ
};

/// σΔ of the seed noise that spends exactly `budget` at the horizon, or in the limit where there is no horizon. It
/// uses the correlation's own sensitivity. Throws Unsupported where that has no limit, InvalidParameter for ρ = 0.
[[nodiscard]] NoiseStddev calibrated_stddev(const noise::Correlation& correlation, const Budget& budget);

/// stationary_excess() under the noise that `budget` allows this correlation.
[[nodiscard]] double predicted_excess(const noise::Correlation& correlation, const LocalProblem& problem,
                                      const Budget& budget);

/// No Toeplitz correlation without a horizon has a predicted_excess() below this under the same ρ and Δ, whatever the
/// participations. For one participation it is the infimum, which |B|² = 1/√ψ attains, by Cauchy and Schwarz (CDP+
/// Theorem C.18; its last line, η²Δ² Tr H/(16ρ) with the ½ of F, lies below it). Several participations cost more.
/// For correlations that are not Toeplitz, such as noise that begins anew, it bounds the average over the steps of a
/// stream without an end, and not the error of a single step. Infinite where the second moment diverges for every
/// correlation. Throws InvalidParameter as least_descent_loss().
[[nodiscard]] double least_excess(const LocalProblem& problem, Rho rho, Displacement displacement);

/// The ν of exact ν-FTRL whose predicted excess under one budget is smallest. For one participation and equal
/// eigenvalues λ it is ηλ (CDP+ Theorem 2.1; ν = η for the mean). Otherwise it is found by a search over ln ν, to
/// about 1e-5 relative. The answer does not depend on ρ or Δ. Throws InvalidParameter where there are no
/// eigenvalues.
[[nodiscard]] Damping suggested_nu(const LocalProblem& problem, const Participation& participation);

/// What an approximation costs: the predicted excess of `correlation` divided by that of `exact` under the same
/// budget, minus 1. Each is judged with its own sensitivity.
[[nodiscard]] double relative_excess(const noise::Correlation& correlation, const noise::Correlation& exact,
                                     const LocalProblem& problem, const Participation& participation);

/// Everything that is predicted about one choice of correlation.
struct Prediction {
  double excess;                        ///< excess of the correlation that was asked about
  Damping suggested;                    ///< suggested_nu()
  double suggested_excess;              ///< excess of exact ν-FTRL with the suggested ν
  double independent_excess;            ///< excess of independent noise
  NoiseStddev seed;                     ///< σΔ, gradient units
  double noise_stddev;                  ///< largest standard deviation of one coordinate of z, gradient units
  std::vector<double> iterate_stddevs;  ///< √P_j σΔ: stationary deviation of the iterate along each eigenvector,
                                        ///< parameter units
};

/// Predicts all of these for one correlation under one budget. Throws Unsupported for trees, and where the
/// sensitivity of the correlation, or that of the independent noise it is compared with, has no limit.
[[nodiscard]] Prediction predict(const noise::Correlation& correlation, const LocalProblem& problem,
                                 const Budget& budget);

}  // namespace nustream::privacy
