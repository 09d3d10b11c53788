// Public bounds on a user's record in local privacy, the projection onto them, and how far two records can be apart.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "nustream/base/units.h"

namespace nustream::inference {

/// The bounds that every record is projected onto before anything else happens to it. They are part of the settings
/// and never measured on the data. At least one of the two norms must be bounded.
struct LocalBounds {
  std::size_t dimension = 0;   ///< p
  std::optional<double> l1{};  ///< r: ‖x‖₁ ≤ r
  std::optional<double> l2{};  ///< r₂: ‖x‖₂ ≤ r₂
  double label_lower = 0;      ///< y ≥ this
  double label_upper = 1;      ///< y ≤ this
  double label_centre = 0;     ///< the report holds x(y − centre); ½ halves the displacement of labels in [0, 1]
};

/// Throws InvalidParameter where p is 0 or above 1,000, no norm is bounded, a bound is not a finite number > 0, or
/// the bounds of the labels are not finite with lower < upper and the centre between them.
void check(const LocalBounds& bounds);

/// Y, the largest |y − centre|.
[[nodiscard]] double label_reach(const LocalBounds& bounds);

/// What projecting a record did. Only the user may see it, because it tells of the record.
struct Projected {
  bool features = false;  ///< ‖x‖ exceeded a bound by more than rounding
  bool label = false;     ///< y was outside its bounds
};

/// Scales x down until every norm is within its bound, which keeps its direction, and clamps y. A record with a NaN
/// or an infinity becomes the null record, x = 0 and y = the centre. It is reported like any other, since leaving it
/// out would tell that it was unusable. `x` has p entries.
Projected project(const LocalBounds& bounds, std::span<double> x, double& y);

/// The bound by which the noise is measured.
enum class LocalNorm {
  l1,     ///< r alone, as in the paper
  l2,     ///< the smaller of r₂ and r
  paper,  ///< the triangle inequalities of the paper over r, which are looser than l1
};

/// How far any two records can move each part of a report, in ℓ2. In local privacy the neighbours are always
/// replace-one.
struct LocalDisplacement {
  double second_moment;  ///< upper triangle of x xᵀ with its diagonal once: the vector that is released
  double cross_moment;   ///< of x(y − centre)
};

/// The displacements, with R = r, or min(r, r₂) for l2, and Y = label_reach():
///
/// | norm   | second moment | cross moment |
/// |--------|---------------|--------------|
/// | l1, l2 | √2 R²         | 2RY          |
/// | paper  | 2r²           | 2rY          |
///
/// Those for l1 and l2 are exact for p ≥ 2 and bounds for p = 1; R e_1 and R e_2 reach the first, and ±R e_1 the
/// second. Those for paper are NLDP Algorithm 1's, by ‖a − b‖ ≤ ‖a‖ + ‖b‖.
///
/// Throws InvalidParameter where the norm that is asked for is not bounded.
[[nodiscard]] LocalDisplacement local_displacement(const LocalBounds& bounds, LocalNorm norm);

/// μ of the whole report under Gaussian noise: the largest distance between two records' reports, each part in units
/// of its own noise. For l1 and l2 it is the supremum over pairs of records. No pair moves both parts as far as the
/// suprema of the parts, since x and −x have the same second moment. With A = 2(R²/σ_1)² and B = 2(RY/σ_2)²,
///
///     μ² = A + B + B²/(4A) where B < 2A, else 2B.
///
/// Proof: the triangle with its diagonal once is at most the Frobenius norm, ‖xxᵀ − x'x'ᵀ‖² = ‖x‖⁴ + ‖x'‖⁴ − 2g² with
/// g = xᵀx'. ‖xu − x'u'‖² is convex in the labels, so |u| = |u'| = Y at its largest, and it is at most Y²(‖x‖² +
/// ‖x'‖² + 2|g|). The sum grows in both norms. At R it is A(1 − h²) + B(1 + h) with h = |g|/R² ∈ [0, 1], and is
/// largest at h = B/(2A) or 1.
///
/// For paper it is the composition, μ² = (Δ_1/σ_1)² + (Δ_2/σ_2)².
[[nodiscard]] double local_mu(const LocalBounds& bounds, LocalNorm norm, NoiseStddev second_moment,
                              NoiseStddev cross_moment);

}  // namespace nustream::inference
