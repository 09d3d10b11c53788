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
  std::string name;        ///< what it is, in a word or two
  std::optional<Rho> rho;  ///< of a comparator that is private by itself: beside the estimate's, not in the ledger
  std::vector<std::pair<std::string, double>> coefficients;
};

/// Whether there is anything to compare with: for linear and Huber losses.
[[nodiscard]] bool is_comparable(const config::Config& config);

/// Least squares, and AdaSSP at the whole ρ under the bounds; where there are instruments two-stage least squares,
/// and as many steps of two-stage descent without clips and noise. `steps`, `rho` and the bounds are public.
[[nodiscard]] std::vector<Compared> compare(const config::Config& config, const Table& table, StepCount steps,
                                            Rho rho, const std::optional<std::pair<double, double>>& bounds);

/// Why the coefficients of the table are not determined, for the operator; empty where they are. Depends on the data.
[[nodiscard]] std::string degeneracy(const config::Config& config, const Table& table);

}  // namespace nustream::estimate
