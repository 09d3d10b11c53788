// Estimates without privacy, for comparison. They are not protected: everybody who sees them learns of the table's
// records.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "estimate/table.h"

namespace nustream::estimate {

/// One comparator, with coefficients in original units.
struct Compared {
  std::string name;        ///< what it is, in a word or two
  std::optional<Rho> rho;  ///< set for a comparator that is private by itself; it is not in the ledger
  std::vector<std::pair<std::string, double>> coefficients;
};

/// Whether there is anything to compare with: only linear and Huber losses have comparators.
[[nodiscard]] bool is_comparable(const config::Config& config);

/// Computes the comparators: least squares and, where `bounds` are given, AdaSSP at the whole ρ under them. Where
/// there are instruments, they are two-stage least squares and `steps` steps of two-stage descent without clips and
/// noise. `steps`, `rho` and `bounds` (on ‖x‖₂ and on |y|) are public.
[[nodiscard]] std::vector<Compared> compare(const config::Config& config, const Table& table, StepCount steps,
                                            Rho rho, const std::optional<std::pair<double, double>>& bounds);

/// Says why the table does not determine the coefficients; empty where it determines them. It depends on the data,
/// and is for the operator alone.
[[nodiscard]] std::string degeneracy(const config::Config& config, const Table& table);

}  // namespace nustream::estimate
