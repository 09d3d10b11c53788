// Converts ρ-zCDP, or the μ of a Gaussian mechanism, to (ε, δ) and back. Several conversions exist that give
// different ε for the same ρ, so every caller names the one that its number came from.
#pragma once

#include <array>
#include <string_view>

#include "nustream/base/units.h"

namespace nustream::privacy {

/// How an ε is computed from ρ and δ.
enum class Conversion {
  gaussian,     ///< exact curve of the Gaussian mechanism with μ = √(2ρ) (Balle and Wang 2018, Theorem 8)
  zcdp,         ///< any ρ-zCDP mechanism: inf over α (CDP+ appendix A)
  zcdp_simple,  ///< ρ + 2√(ρ ln(1/δ)) (Bun and Steinke 2016)
};
/// All conversions, in the order of the ε that they give at the same ρ and δ: the smallest first.
inline constexpr std::array conversions{Conversion::gaussian, Conversion::zcdp, Conversion::zcdp_simple};
/// The name that settings and reports use: "gaussian", "zcdp" or "zcdp-simple".
[[nodiscard]] std::string_view name(Conversion conversion);

/// The smallest ε at which a mechanism of this ρ is (ε, δ)-differentially private by this conversion. For the
/// exact Gaussian curve the relative error is below 1e-12, also deep in the tails. ρ = 0 gives 0.
[[nodiscard]] Epsilon epsilon(Rho rho, Delta delta, Conversion conversion = Conversion::gaussian);

/// δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ), the exact curve of a Gaussian mechanism with μ = √(2ρ) > 0. The
/// computation uses logarithms of the complementary error function, so that neither e^ε nor the tails overflow or
/// cancel.
///
/// Throws InvalidParameter unless μ is finite and positive and ε is finite and not negative.
///
/// Source: Balle and Wang 2018, Theorem 8.
[[nodiscard]] double gaussian_delta(double mu, double epsilon);

/// The largest ρ whose ε at δ is at most `epsilon`, rounded down: this calibrates a mechanism to an (ε, δ).
/// Returns 0 where even the smallest positive ρ gives a larger ε.
[[nodiscard]] Rho rho_for(Epsilon epsilon, Delta delta, Conversion conversion = Conversion::gaussian);

}  // namespace nustream::privacy
