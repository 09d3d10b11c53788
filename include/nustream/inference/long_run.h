// An interval for the long-run mean of a series whose neighbours depend on each other, by its slowest movements
// alone.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "nustream/inference/interval.h"

namespace nustream::inference {

/// So many of the slowest movements make an interval: few enough that neighbours' dependence, which dies out over a
/// fraction of the series, looks the same at all of them.
inline constexpr std::size_t slow_movements = 4;

/// Squares of √(2/m) Σ_i v_i cos(πj(i + ½)/m), j = 1 … count < m. Each estimates the series' power at the frequency
/// j/(2m), and of independent normal values of variance σ² they are independent σ² χ²_1. None contains the mean.
[[nodiscard]] std::vector<double> cosine_powers(std::span<const double> values, std::size_t count);

/// Mean of the values ± t_4 √(mean of the first four cosine_powers / m), at a confidence of `level`. It holds for
/// independent values, for those that remember each other and for those that alternate, where the ends of the series
/// are far apart beside what is remembered. It is 1.4 times as wide as t_interval() of many independent values.
/// Nothing for fewer than 2 · slow_movements values. Sources: Müller 2004; Lazarus, Lewis, Stock and Watson 2018.
[[nodiscard]] std::optional<Interval> long_run_interval(std::span<const double> values, double level);

}  // namespace nustream::inference
