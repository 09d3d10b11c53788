// Normal residuals within a bound.
#pragma once

namespace nustream::moments {

/// By which factor E min(r², b²) exceeds E min(r², a²) of a normal r with E min(r², a²) = mean·a², where b = ratio·a
/// ≥ a. At most .9 of a mean is believed: above that, hardly anything of the residuals is seen.
[[nodiscard]] double grown_within(double mean, double ratio) noexcept;

/// The share of normal residuals r beyond ±a, where E min(r², a²) = mean·a².
[[nodiscard]] double share_beyond(double mean) noexcept;

}  // namespace nustream::moments
