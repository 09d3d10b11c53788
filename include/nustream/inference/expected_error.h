// Predicts from public guesses of the stream how far a linear descent will end from the answer, because of sampling,
// its start, clipping and privacy noise. A plan compares this with running sums (moments/expected_error.h). Notation:
// docs/notation.md.
#pragma once

#include <cstdint>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/inference/average_plan.h"
#include "nustream/noise/correlation.h"

namespace nustream::inference {

/// Public guesses of a stream of independent rows in working coordinates: x is normal with these second moments, and
/// y = xᵀθ* + ε with normal ε.
struct StreamGuess {
  std::vector<double> eigenvalues;  ///< eigenvalues of H = E[xxᵀ], > 0; one for each coefficient
  double residual;                  ///< standard deviation of ε, > 0
  double distance;                  ///< ‖θ* − θ_0‖, spread evenly over all directions
};

/// E (θ̂ − θ*)ᵀH(θ̂ − θ*), twice the excess of the loss, split by its causes. Its root says how far predictions are
/// off, in units of the target.
struct ExpectedError {
  double start;     ///< what is left of the start, and what clipping pulls towards it
  double sampling;  ///< from the records' own residuals
  double privacy;   ///< from the noise
  [[nodiscard]] double total() const noexcept { return start + sampling + privacy; }
  [[nodiscard]] double root() const noexcept;
};

/// The settings that a descent is run with.
struct DescentDesign {
  noise::Correlation correlation;
  StepSize step_size;  ///< constant
  ClipNorm clip;
  NoiseStddev stddev;       ///< σΔ of the noise on the mean gradient of a step
  std::uint64_t minibatch;  ///< records of a step
  AverageOver over;         ///< the last iterate is the one after over.steps
};

struct DescentErrors {
  ExpectedError last;
  ExpectedError average;
};

/// The expected errors, to first order in what the noise does. Clipping multiplies the pull of a residual r of
/// deviation s by P(|r|‖x‖ < G) (Stein's lemma for normal r). An iterate that starts far away therefore moves slowly
/// at first. s falls as the iterate comes near, and the prediction follows this change of the pull. The errors are
/// infinite where the iterate's second moment has no bound. O(steps of a geometric grid + log over.steps). Throws
/// InvalidParameter where guesses are out of range, and as averaged_noise_variance() does.
[[nodiscard]] DescentErrors expected_errors(const StreamGuess& guess, const DescentDesign& design);

/// ‖x‖² of such rows, as equally likely values that represent its distribution: a gamma distribution of mean Σ λ and
/// variance 2 Σ λ².
[[nodiscard]] std::vector<double> squared_row_norms(const StreamGuess& guess);

/// P(|ε| < bound), and E[clip(ε, ±bound)²], for ε ~ N(0, s²).
[[nodiscard]] double kept_share(double s, double bound);
[[nodiscard]] double clipped_variance(double s, double bound);

/// Throws InvalidParameter where a guess is not finite and > 0 (the distance may be 0), or there is no eigenvalue.
void check(const StreamGuess& guess);

}  // namespace nustream::inference
