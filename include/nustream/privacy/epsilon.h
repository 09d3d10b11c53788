// From ρ or μ to (ε, δ) and back; every number says which conversion it came from.
#pragma once

#include <array>
#include <string_view>

#include "nustream/base/units.h"

namespace nustream::privacy {

enum class Conversion {
  gaussian,     ///< exact curve of the Gaussian mechanism with μ = √(2ρ) (Balle and Wang 2018, Theorem 8)
  zcdp,         ///< any ρ-zCDP mechanism: inf over α (CDP+ appendix A)
  zcdp_simple,  ///< ρ + 2√(ρ ln(1/δ)) (Bun and Steinke 2016)
};
/// All of them, from the smallest ε to the largest.
inline constexpr std::array conversions{Conversion::gaussian, Conversion::zcdp, Conversion::zcdp_simple};
/// "gaussian", "zcdp", "zcdp-simple".
[[nodiscard]] std::string_view name(Conversion conversion);

/// The smallest ε at δ. Relative error below 1e-12 for the exact curve, deep tails included; ρ = 0 gives 0.
[[nodiscard]] Epsilon epsilon(Rho rho, Delta delta, Conversion conversion = Conversion::gaussian);

/// δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ); μ = √(2ρ) > 0. Works with log-erfc, so that neither e^ε nor the
/// tails overflow or cancel.
[[nodiscard]] double gaussian_delta(double mu, double epsilon);

/// The largest ρ whose ε at δ is at most `epsilon`, rounded down: calibration from (ε, δ).
[[nodiscard]] Rho rho_for(Epsilon epsilon, Delta delta, Conversion conversion = Conversion::gaussian);

}  // namespace nustream::privacy
