// Goes from the sums of local reports and public unlabeled rows to a model, and says how reliable it is. Source: NLDP
// Algorithm 1, lines 5 to 12.
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

/// What is done where the noisy second moment has eigenvalues below the size of the noise. Its inverse is meaningless
/// there, and the matrix is indefinite if they are below 0.
enum class LocalRepair {
  ridge,           ///< adds the multiple of I that lifts the smallest eigenvalue to the noise's size
  pseudo_inverse,  ///< leaves out the eigenvectors whose eigenvalues are below it
  none,            ///< the plain inverse, as in the paper
};
/// The name of a repair: "ridge", "pseudo-inverse" or "none".
[[nodiscard]] std::string_view name(LocalRepair repair) noexcept;

struct LocalSolverSettings {
  GlmFamily family = GlmFamily::logistic;
  LocalRepair repair = LocalRepair::ridge;
  double ridge = 0;  ///< always added to the mean second moment; ≥ 0
};

/// Public unlabeled rows, row-major rows × p, projected onto the same bounds as the users' rows (project()). Where
/// there are weights, each row counts `weights[j]` times.
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
  LocalRepair repair;  ///< none where no repair was needed
  double ridge;        ///< added to each eigenvalue, including that of the settings
  std::size_t rank;    ///< number of eigenvectors kept
};

/// The signal and the noise of a part of the reports, both in the units of a mean over the reports.
struct SignalToNoise {
  double signal;
  double noise;
  bool exceeded;          ///< noise > signal
  double reports_needed;  ///< n at which the two would be equal: n (noise/signal)²
  bool at_least;          ///< the signal is not seen yet, so reports_needed is a lower bound
};

struct LocalEstimate {
  std::vector<double> ols;                   ///< ŵ_ols: p
  std::optional<GlmScale> scale;             ///< c; empty without public rows under logistic and Poisson
  std::optional<std::vector<double>> model;  ///< ŵ = c ŵ_ols; empty where there is no c
  LocalSpectrum spectrum;
  /// The smallest eigenvalue of x xᵀ (of the public rows where there are any) against the spectral norm of the noise,
  /// about 2σ_1 √(p/n). Where the eigenvalue is below that, the sum is indefinite as often as not.
  SignalToNoise second_moment;
  /// ‖x(y − centre)‖ with its noise taken out, against that noise, σ_2 √(p/n).
  SignalToNoise cross_moment;
  /// ‖mean‖ of the public rows divided by √(tr of their second moment). The model has no intercept and needs E x = 0,
  /// so this should be small. NaN without public rows.
  double public_mean_shift;

  /// Whether the noise of either part is larger than its signal.
  [[nodiscard]] bool noise_exceeds_signal() const noexcept { return second_moment.exceeded || cross_moment.exceeded; }
};

/// Solves ŵ_ols = (Σ x xᵀ)⁻¹ Σ x(y − centre) and finds c over the public rows; linear needs no such rows. The centre
/// of the labels shifts nothing where E x = 0. Throws InvalidParameter where sizes disagree, the ridge is not a
/// finite number ≥ 0, or a public row is not finite.
[[nodiscard]] LocalEstimate solve_local(const LocalMoments& moments, const LocalNoise& noise, const PublicRows& rows,
                                        const LocalSolverSettings& settings);

}  // namespace nustream::inference
