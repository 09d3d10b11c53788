// What a plan shows before any data is read: the spend as it grows, the predicted error, a better ν.
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

/// The spend after so many steps.
struct SpendRow {
  std::optional<StepCount> steps;  ///< empty: in the limit of endlessly many
  Sensitivity sensitivity;         ///< γ, for one participation; else over all that are allowed
  Rho rho;
  Epsilon epsilon;
};

/// Rows at 10³, 10⁴ … 10⁹ steps as far as the horizon goes, at the horizon itself, and the limit where there is no
/// horizon and the limit is finite; and one at `also` steps, if that is below the horizon.
[[nodiscard]] std::vector<SpendRow> spend_table(const Spend& spend, Delta delta,
                                                Conversion conversion = Conversion::gaussian,
                                                std::optional<StepCount> also = std::nullopt);

/// What the error is compared under: the whole budget ρ of the worst unit, spent over all steps that there may be.
struct Budget {
  Rho rho;
  Participation participation;
  Displacement displacement;  ///< Δ
};

/// σΔ that spends exactly `budget` in the limit, or at the horizon: the correlation's own sensitivity.
[[nodiscard]] NoiseStddev calibrated_stddev(const noise::Correlation& correlation, const Budget& budget);

/// stationary_excess() with the noise that `budget` allows this correlation.
[[nodiscard]] double predicted_excess(const noise::Correlation& correlation, const LocalProblem& problem,
                                      const Budget& budget);

/// The ν of exact ν-FTRL whose predicted excess under one budget is smallest. For one participation and equal
/// eigenvalues λ it is ηλ (CDP+ Theorem 2.1; ν = η for the mean), else found by a search over ln ν to about 1e-5
/// relative. Does not depend on ρ or Δ.
[[nodiscard]] Damping suggested_nu(const LocalProblem& problem, const Participation& participation);

/// What an approximation costs: predicted excess of `correlation` over that of `exact` under the same budget,
/// minus 1. Both with their own sensitivities.
[[nodiscard]] double relative_excess(const noise::Correlation& correlation, const noise::Correlation& exact,
                                     const LocalProblem& problem, const Participation& participation);

/// Everything predicted of one choice of correlation.
struct Prediction {
  double excess;                        ///< of the correlation asked about
  Damping suggested;                    ///< suggested_nu()
  double suggested_excess;              ///< of exact ν-FTRL with it
  double independent_excess;            ///< of independent noise
  NoiseStddev seed;                     ///< σΔ, gradient units
  double noise_stddev;                  ///< largest standard deviation of one coordinate of z, gradient units
  std::vector<double> iterate_stddevs;  ///< √P_j σΔ: of the iterate along each eigenvector, parameter units
};

/// Throws Unsupported for trees and where the sensitivity has no limit (also of independent noise).
[[nodiscard]] Prediction predict(const noise::Correlation& correlation, const LocalProblem& problem,
                                 const Budget& budget);

}  // namespace nustream::privacy
