// The Gaussian tail without underflow, overflow or cancellation, as the exact (ε, δ) curve needs it.
#pragma once

namespace nustream::privacy {

/// Mills' ratio R(x) = Φ(−x)/φ(x) = √(π/2)·erfcx(x/√2) for x ≥ −8. The relative error is a few 1e-16.
[[nodiscard]] double mills_ratio(double x);

/// R(x) − R(x + width) for x ≥ −8 and width > 0. Small widths do not cancel.
[[nodiscard]] double mills_difference(double x, double width);

/// ln φ(x), with φ the standard normal density.
[[nodiscard]] double log_density(double x);

}  // namespace nustream::privacy
