// The Gaussian tail without underflow, overflow or cancellation: everything that the exact (ε, δ) curve needs.
#pragma once

namespace nustream::privacy {

/// R(x) = Φ(−x)/φ(x) = √(π/2)·erfcx(x/√2), for x ≥ −8; relative error a few 1e-16.
[[nodiscard]] double mills_ratio(double x);

/// R(x) − R(x + width) for x ≥ −8, width > 0, without cancellation for small widths.
[[nodiscard]] double mills_difference(double x, double width);

/// ln φ(x), the standard normal density.
[[nodiscard]] double log_density(double x);

}  // namespace nustream::privacy
