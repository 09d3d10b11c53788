// How far the privacy noise keeps an average of iterates from the optimum, and which ν is best for it: what a plan
// says where an average is quoted. An average is close to a prefix sum of the noise, so its best ν is near one over
// its length, far below the best one for the last iterate (privacy/plan.h). Notation: docs/notation.md.
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
  double decay = 1;     ///< in (0, 1]; 1: the plain mean
};

/// What a plan takes an average to be over, from its settings.
struct AverageSpan {
  AverageOver over;
  bool every_length;  ///< of a stream without a known end: the average is quoted at every length
  bool assumed;       ///< the length follows from where the average begins alone
};

/// Of `steps` steps; where they are 0, nobody said how many. An exponential average is then taken forty of its
/// memories on, a tail that begins late at twice that many steps, and one from the start at 10⁶ steps, and for every
/// length. Contract: the kind is not Kind::last.
[[nodiscard]] AverageSpan span_of(const descent::Averaging& averaging, std::uint64_t steps);

/// Variance of the average along each eigenvector for seed noise of variance 1, from θ* on. For Gaussian features the
/// noise that x xᵀ multiplies in is there too: along eigenvector j as white gradient noise of variance λ_j Σ_k λ_k
/// m_k
/// + λ_j² m_j, m the stationary second moment of the iterate; infinite where that diverges. Throws as
/// averaged_noise_variance() and privacy::stationary_variances().
[[nodiscard]] std::vector<double> average_variances(const noise::Correlation& correlation,
                                                    const privacy::LocalProblem& problem, const AverageOver& over);

/// E F(average) − F(θ*) from the privacy noise alone, Σ_j (λ_j/2) average_variances()_j (σΔ)².
[[nodiscard]] double average_excess(const noise::Correlation& correlation, const privacy::LocalProblem& problem,
                                    const AverageOver& over, NoiseStddev noise);

/// The ν in [1e-10, .95] of rational ν-FTRL whose average_excess() under one budget is least; to about 1% of ν. Of
/// more than 8 different eigenvalues groups stand for them. Does not depend on ρ or Δ.
[[nodiscard]] Damping suggested_nu_of_average(const privacy::LocalProblem& problem, const AverageOver& over,
                                              const privacy::Participation& participation);

/// The same where the stream has no end and its average is quoted at every time: the ν of a grid of ten a decade
/// whose excess, over that of the best ν for each length of 10⁴, 10⁵, …, 10⁹ steps behind `from`, is least at the
/// length where it is largest. One rational correlation with a finite spend then serves every length.
[[nodiscard]] Damping suggested_nu_of_every_average(const privacy::LocalProblem& problem, std::uint64_t from,
                                                    const privacy::Participation& participation);

/// What is predicted of an average under one correlation and under the ones that a plan compares it with.
struct AveragePrediction {
  double excess;              ///< of the correlation asked about
  double suggested_excess;    ///< of rational ν-FTRL with the ν that is suggested
  double independent_excess;  ///< of independent noise
  double suggested_last;      ///< of the last iterate under the suggested ν: what that costs it
  Damping suggested;
  std::vector<double> stddevs;  ///< along each eigenvector, under the correlation asked about, parameter units
};

/// `every`: whether the average is quoted at every time of a stream without an end; the prediction itself is about
/// `over`. Throws Unsupported for trees and where the sensitivity has no limit.
[[nodiscard]] AveragePrediction predict_average(const noise::Correlation& correlation,
                                                const privacy::LocalProblem& problem, const AverageOver& over,
                                                bool every, const privacy::Budget& budget);

}  // namespace nustream::inference
