// Who takes part when in a descent over a table, or in running sums of it, and what it costs.
#pragma once

#include <cstdint>

#include "config/mechanism.h"
#include "nustream/privacy/participation.h"

namespace nustream::engine {

/// All numbers are public: n is, under replace-one adjacency, and the settings are.
struct TableDesign {
  std::uint64_t rows;             ///< n
  std::uint64_t minibatch;        ///< m: n for a full batch
  std::uint64_t steps_of_a_pass;  ///< b = ⌈n/m⌉: the last minibatch of a pass is filled up with zero gradients
  std::uint64_t steps;            ///< T
  std::uint64_t runs;             ///< each with its share of ρ
  bool of_users = false;          ///< the unit is the user, whose rows may be in every minibatch

  /// ⌈T/b⌉: how often a record takes part.
  [[nodiscard]] std::uint64_t passes() const noexcept { return (steps + steps_of_a_pass - 1) / steps_of_a_pass; }
  /// k = ⌈T/b⌉ participations, b steps apart: k = T and b = 1 for a full batch, and for users.
  [[nodiscard]] privacy::Participation participation() const;
  /// What all runs cost together, as the ledger adds it up.
  [[nodiscard]] Rho of_all_runs(Rho of_one) const;
};

/// Settles config's minibatch and the share of ρ of one run; of running sums also the number of their releases, which
/// makes their correlation. Failure(data) for an empty table, Failure(configuration) for a minibatch that is larger
/// than it, or a stage that begins behind its last record.
[[nodiscard]] TableDesign settle_design(config::Config& config, std::uint64_t rows);

/// Standard deviation that the noise leaves in a coordinate of the last iterate, in working coordinates, where the
/// Hessian has the eigenvalue 1: what a plan can say before any data are read. Empty where there is no such formula.
/// Of running sums what the noise of the target's moments leaves in the last estimate.
[[nodiscard]] std::optional<double> predicted_stddev(const config::Config& config, const config::Mechanism& mechanism,
                                                     const TableDesign& design);

}  // namespace nustream::engine
