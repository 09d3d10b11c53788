// How far one unit can move the encoded gradients C·G where its participations are limited within each of several
// windows of steps, one after the other. Notation: docs/notation.md.
#pragma once

#include <cstdint>
#include <optional>

#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"
#include "nustream/privacy/participation.h"

namespace nustream::privacy {

/// What the worst pattern of steps over several windows costs.
struct WindowsSensitivity {
  Sensitivity sensitivity;  ///< dimensionless, in units of Δ
  /// Whether some pattern of steps reaches it, or comes as close as one likes where there is no horizon. If false, it
  /// is an upper bound.
  bool is_reached;
};

/// Returns the largest ‖Σ_{t ∈ π} C e_t‖₂ over the patterns π that are made of P = `windows` ≥ 1 participations, each
/// of which `within` allows, and of which each one's steps come after all steps of the one before. One noise runs
/// through all windows. `steps` is the number of steps in all; where it is empty, the result is the supremum over all
/// steps that the correlation allows.
///
/// Nothing is assumed about the lengths of the windows, since records decide how many steps a window has. Two steps
/// of one window are b apart, but the last step of a window and the first one of the next may be neighbours.
///
/// Where C is Toeplitz, and c is non-negative and does not increase from c_1 on, ⟨C e_s, C e_t⟩ ≥ 0 falls as s and t
/// move apart or are moved back. So among the patterns with n_1, …, n_P steps in the windows the worst one begins at
/// step 0, has steps b apart within a window, and begins each window right behind the last step of the one before.
/// Two windows of k steps each are then worst without a horizon. With more windows a window in the middle may be
/// worse with fewer steps, because its neighbours then come closer. So all n are searched, from 1 to k:
///
/// - k = 1 or b = 1: all P·k steps are neighbours, and the result is sensitivity() of (P·k, 1), with its guarantee.
/// - without a horizon: by branch and bound over boxes of counts. A box costs at most what its largest counts cost at
///   the distances of its smallest ones. Where the search ends early, the result is the bound that it has by then.
/// - with a number of steps: by trying all n_1 … n_{P−1} where these are few, and otherwise by the same branch and
///   bound, where each pair of steps is taken to lie at the beginning. The latter is an upper bound.
///
/// Where c is not of that shape, the envelope max_{s≥t} |c_s| takes its place, as in sensitivity(). Trees, dense and
/// restarted correlations have no such order. For them the result is the lesser of P·sensitivity(k, b), by the
/// triangle inequality, and sensitivity(P·k, 1), as every pattern has at most P·k steps. No result is above these
/// two.
///
/// Results are rounded up. Throws as sensitivity() and sensitivity_limit() do, and InvalidParameter for 0 windows.
[[nodiscard]] WindowsSensitivity sensitivity_over_windows(const noise::Correlation& correlation,
                                                          std::optional<StepCount> steps, const Participation& within,
                                                          std::uint64_t windows);

}  // namespace nustream::privacy
