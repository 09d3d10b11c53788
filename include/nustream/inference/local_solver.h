// From the sums of local reports and public unlabeled rows to a model, with what can be said of its reliability.
// Source: NLDP Algorithm 1, lines 5 to 12.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "nustream/inference/glm_scale.h"
#include "nustream/inference/local_collector.h"
#include "nustream/inference/local_mechanism.h"

namespace nustream::inference {

/// What is done where the noisy second moment has eigenvalues below the noise's own size, which makes its inverse
/// meaningless and, below 0, indefinite.
enum class LocalRepair {
  ridge,           ///< adds the multiple of I that lifts the smallest eigenvalue to the noise's size
  pseudo_inverse,  ///< leaves out the eigenvectors below it
  none,            ///< the plain inverse, as in the paper
};
/// "ridge", "pseudo-inverse", "none".
[[nodiscard]] std::string_view name(LocalRepair repair) noexcept;

struct LocalSolverSettings {
  GlmFamily family = GlmFamily::logistic;
  LocalRepair repair = LocalRepair::ridge;
  double ridge = 0;  ///< added to the mean second moment in any case; >= 0
};

/// Public unlabeled rows, row-major rows × p, projected onto the same bounds as the users' (project()); each counted
/// `weights[j]` times where there are weights.
struct PublicRows {
  std::span<const double> x;
  std::span<const double> weights{};
};

/// The eigenvalues of the mean second moment as it was collected, and what was done about them.
struct LocalSpectrum {
  double smallest;
  double largest;
  bool definite;       ///< smallest > 0
  double condition;    ///< largest/smallest; infinite where it is not definite
  LocalRepair repair;  ///< none where none was needed
  double ridge;        ///< added to each eigenvalue, the settings' own included
  std::size_t rank;    ///< eigenvectors kept
};

/// A part of the reports against its noise. Both in the units of a mean over the reports.
struct SignalToNoise {
  double signal;
  double noise;
  bool exceeded;          ///< noise > signal
  double reports_needed;  ///< n at which the two would be equal: n (noise/signal)²
  bool at_least;          ///< the signal is not seen yet: reports_needed is a lower bound
};

struct LocalEstimate {
  std::vector<double> ols;                   ///< ŵ_ols: p
  std::optional<GlmScale> scale;             ///< c; nothing without public rows under logistic and Poisson
  std::optional<std::vector<double>> model;  ///< ŵ = c ŵ_ols; nothing where there is no c
  LocalSpectrum spectrum;
  /// The smallest eigenvalue of x xᵀ, of the public rows where there are any, against the noise's spectral norm,
  /// about 2σ_1 √(p/n): below it the sum is indefinite as often as not.
  SignalToNoise second_moment;
  /// ‖x(y − centre)‖, its noise taken out, against that, σ_2 √(p/n).
  SignalToNoise cross_moment;
  /// ‖mean‖ of the public rows over √(tr of their second moment): the model has no intercept and needs E x = 0. NaN
  /// without public rows.
  double public_mean_shift;

  /// The noise of either part is larger than its signal.
  [[nodiscard]] bool noise_exceeds_signal() const noexcept { return second_moment.exceeded || cross_moment.exceeded; }
};

/// Solves ŵ_ols = (Σ x xᵀ)⁻¹ Σ x(y − centre) and finds c over the public rows, which linear does without. The centre
/// of the labels shifts nothing where E x = 0. Throws InvalidParameter where sizes disagree, the ridge is not a
/// finite number >= 0, or a public row is not finite.
[[nodiscard]] LocalEstimate solve_local(const LocalMoments& moments, const LocalNoise& noise, const PublicRows& rows,
                                        const LocalSolverSettings& settings);

}  // namespace nustream::inference
