// An interval for the long-run mean of a series whose neighbours depend on each other. It uses the slowest movements
// of the series alone.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "nustream/inference/interval.h"

namespace nustream::inference {

/// The number of slowest movements that an interval is computed from. They are few enough that the dependence of
/// neighbours, which dies out over a fraction of the series, looks the same at all of them.
inline constexpr std::size_t slow_movements = 4;

/// The squares of √(2/m) Σ_i v_i cos(πj(i + ½)/m) for j = 1 … count < m. Each estimates the power of the series at
/// the frequency j/(2m). For independent normal values of variance σ² they are independent σ² χ²_1. The mean does not
/// enter any of them.
[[nodiscard]] std::vector<double> cosine_powers(std::span<const double> values, std::size_t count);

/// The mean of the values ± t_4 √(mean of the first four cosine_powers / m), at a confidence of `level`. It holds for
/// independent values, for values that remember each other and for values that alternate, as long as the series is
/// long compared with what is remembered. It is 1.4 times as wide as t_interval() of many independent values. Empty
/// for fewer than 2 · slow_movements values.
///
/// Sources: Müller 2004; Lazarus, Lewis, Stock and Watson 2018.
[[nodiscard]] std::optional<Interval> long_run_interval(std::span<const double> values, double level);

}  // namespace nustream::inference
