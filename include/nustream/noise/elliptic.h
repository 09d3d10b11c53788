// The elliptic integrals and functions behind ν-FTRL: its sensitivity is an arithmetic-geometric mean, and the
// poles of its rational approximation are values of a Jacobi function.
#pragma once

namespace nustream::noise {

/// The arithmetic-geometric mean of x > 0 and y > 0, to a few units in the last place. Throws InvalidParameter where
/// either is not a finite number > 0.
[[nodiscard]] double arithmetic_geometric_mean(double x, double y);

/// The complete elliptic integral K(m) = ∫₀^{π/2} dφ/√(1 − m sin²φ). The argument is the complement 1 − m, in (0, 1],
/// so that m may be arbitrarily close to 1. Throws InvalidParameter for other complements. Source: DLMF 19.8.5.
[[nodiscard]] double complete_elliptic_integral_first(double complement);

/// The complete elliptic integral E(m) = ∫₀^{π/2} √(1 − m sin²φ) dφ, given 1 − m in (0, 1]. Throws InvalidParameter
/// for other complements. Source: DLMF 19.8.6.
[[nodiscard]] double complete_elliptic_integral_second(double complement);

/// Jacobi's sn/cn at u = fraction · K(m), for a fraction in [0, 1) and 1 − m in (0, 1]. No step subtracts, so the
/// relative error stays at a few units in the last place even for m near 1 and u near K. Throws InvalidParameter for
/// other arguments.
///
/// Source: the descending Landen transformation, DLMF 22.7(i), for a_n·cn/sn.
[[nodiscard]] double jacobi_sc(double fraction, double complement);

}  // namespace nustream::noise
