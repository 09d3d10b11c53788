// Estimates without privacy, for comparison: whoever sees them sees the table.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "estimate/table.h"

namespace nustream::estimate {

/// One comparator, in original units.
struct Compared {
  std::string name;  ///< what it is, in a word or two
  bool is_private;   ///< by itself, at the ρ of the estimate
  std::vector<std::pair<std::string, double>> coefficients;
};

/// Least squares (two-stage where there are instruments), and AdaSSP at the whole ρ under the bounds, for linear
/// losses; nothing for others. `rho` and the bounds are public.
[[nodiscard]] std::vector<Compared> compare(const config::Config& config, const Table& table, Rho rho,
                                            const std::optional<std::pair<double, double>>& bounds);

/// Why the coefficients of the table are not determined, for the operator; empty where they are. Depends on the data.
[[nodiscard]] std::string degeneracy(const config::Config& config, const Table& table);

}  // namespace nustream::estimate
