// How far a linear descent will end from the answer, from public guesses of the stream: sampling, start, clipping and
// privacy noise. What a plan compares with running sums (moments/expected_error.h). Notation: docs/notation.md.
#pragma once

#include <cstdint>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/inference/average_plan.h"
#include "nustream/noise/correlation.h"

namespace nustream::inference {

/// Public guesses of a stream of independent rows: x normal with these second moments, y = xᵀθ* + ε, ε normal.
/// Working coordinates.
struct StreamGuess {
  std::vector<double> eigenvalues;  ///< of H = E[xxᵀ], > 0; one for each coefficient
  double residual;                  ///< standard deviation of ε, > 0
  double distance;                  ///< ‖θ* − θ_0‖, in no direction more than in another
};

/// E (θ̂ − θ*)ᵀH(θ̂ − θ*), twice the excess of the loss, by its causes: its root is how far predictions are off, in
/// units of the target.
struct ExpectedError {
  double start;     ///< what is left of the start, and of what clipping pulls towards it
  double sampling;  ///< of the records' own residuals
  double privacy;   ///< of the noise
  [[nodiscard]] double total() const noexcept { return start + sampling + privacy; }
  [[nodiscard]] double root() const noexcept;
};

/// What a descent is run with.
struct DescentDesign {
  noise::Correlation correlation;
  StepSize step_size;  ///< constant
  ClipNorm clip;
  NoiseStddev stddev;       ///< σΔ of the noise on the mean gradient of a step
  std::uint64_t minibatch;  ///< records of a step
  AverageOver over;         ///< the last iterate is that after over.steps
};

struct DescentErrors {
  ExpectedError last;
  ExpectedError average;
};

/// To first order in what the noise does. Clipping multiplies the pull of a residual r of deviation s by
/// P(|r|‖x‖ < G) (Stein's lemma for normal r), so that a start far away is left slowly: s falls as the iterate comes
/// near, and the pull is followed along. Infinite where the iterate's second moment has no bound. O(steps of a
/// geometric grid + log over.steps). Throws InvalidParameter where guesses are out of range, and as
/// averaged_noise_variance().
[[nodiscard]] DescentErrors expected_errors(const StreamGuess& guess, const DescentDesign& design);

/// ‖x‖² of such rows: equally likely values that stand for its distribution (a gamma distribution of its mean
/// Σ λ and variance 2 Σ λ²).
[[nodiscard]] std::vector<double> squared_row_norms(const StreamGuess& guess);

/// Of ε ~ N(0, s²) and a bound: P(|ε| < bound), and E[clip(ε, ±bound)²].
[[nodiscard]] double kept_share(double s, double bound);
[[nodiscard]] double clipped_variance(double s, double bound);

/// Throws InvalidParameter where a guess is not finite and > 0 (the distance may be 0), or there is no eigenvalue.
void check(const StreamGuess& guess);

}  // namespace nustream::inference
