// Predicts how far the privacy noise keeps an average of iterates from the optimum, and which ν is best for it; a
// plan shows this where an average is quoted. An average is close to a prefix sum of the noise. Its best ν is
// therefore near one over its length, far below the best one for the last iterate (privacy/plan.h). Notation:
// docs/notation.md.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/descent/averaging.h"
#include "nustream/noise/correlation.h"
#include "nustream/privacy/plan.h"
#include "nustream/privacy/stationary.h"

namespace nustream::inference {

/// Which iterates are averaged: those after from + 1, …, steps steps, each with the weight decay^{steps − t}.
struct AverageOver {
  std::uint64_t from;
  std::uint64_t steps;  ///< more than `from`
  double decay = 1;     ///< in (0, 1]; 1 gives the plain mean
};

/// The iterates that a plan takes an average over, according to its settings.
struct AverageSpan {
  AverageOver over;
  bool every_length;  ///< the stream has no known end: the average is quoted at every length
  bool assumed;       ///< the length follows only from where the average begins
};

/// The span of an average over `steps` steps. If `steps` is 0, their number is not known. An exponential average is
/// then taken after forty of its memories, a tail that begins late at twice the step where it begins, and a tail from
/// the start at 10⁶ steps and for every length. The kind must not be Kind::last.
[[nodiscard]] AverageSpan span_of(const descent::Averaging& averaging, std::uint64_t steps);

/// The variance of the average along each eigenvector for seed noise of variance 1, from θ* on. For Gaussian features
/// it includes the noise that x xᵀ multiplies in: along eigenvector j that is white gradient noise of variance λ_j
/// Σ_k λ_k m_k + λ_j² m_j, where m is the stationary second moment of the iterate; it is infinite where m diverges.
/// Throws as averaged_noise_variance() and privacy::stationary_variances() do.
[[nodiscard]] std::vector<double> average_variances(const noise::Correlation& correlation,
                                                    const privacy::LocalProblem& problem, const AverageOver& over);

/// E F(average) − F(θ*) from the privacy noise alone: Σ_j (λ_j/2) average_variances()_j (σΔ)².
[[nodiscard]] double average_excess(const noise::Correlation& correlation, const privacy::LocalProblem& problem,
                                    const AverageOver& over, NoiseStddev noise);

/// The ν in [1e-10, .95] of rational ν-FTRL whose average_excess() under one budget is least, to about 1% of ν. More
/// than 8 different eigenvalues are represented by groups. The answer does not depend on ρ or Δ. Throws
/// InvalidParameter where there are no eigenvalues.
[[nodiscard]] Damping suggested_nu_of_average(const privacy::LocalProblem& problem, const AverageOver& over,
                                              const privacy::Participation& participation);

/// The ν for a stream without an end whose average is quoted at every time. For each length of 10⁴, 10⁵, …, 10⁹ steps
/// after `from`, the excess under a ν is divided by that under the best ν for this length; the result is the ν whose
/// largest ratio is least, from a grid of ten values a decade. One rational correlation with a finite spend then
/// serves every length.
[[nodiscard]] Damping suggested_nu_of_every_average(const privacy::LocalProblem& problem, std::uint64_t from,
                                                    const privacy::Participation& participation);

/// What is predicted of an average under one correlation, and under those that a plan compares it with.
struct AveragePrediction {
  double excess;              ///< excess of the correlation that was asked about
  double suggested_excess;    ///< excess of rational ν-FTRL with the suggested ν
  double independent_excess;  ///< excess of independent noise
  double suggested_last;      ///< excess of the last iterate under the suggested ν: what that ν costs it
  Damping suggested;
  std::vector<double> stddevs;  ///< along each eigenvector, under the correlation that was asked about, parameter
                                ///< units
};

/// Predicts all of these. `every` says whether the average is quoted at every time of a stream without an end; the
/// prediction itself is about `over`. Throws Unsupported for trees and where the sensitivity has no limit.
[[nodiscard]] AveragePrediction predict_average(const noise::Correlation& correlation,
                                                const privacy::LocalProblem& problem, const AverageOver& over,
                                                bool every, const privacy::Budget& budget);

}  // namespace nustream::inference
