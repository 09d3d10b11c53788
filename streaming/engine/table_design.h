// Which records of a table take part in which steps, of a descent or of running sums, and what that costs.
#pragma once

#include <cstdint>

#include "config/mechanism.h"
#include "nustream/privacy/participation.h"

namespace nustream::engine {

/// The size of a run over a table. All of its numbers are public: the settings are, and so is n under replace-one
/// adjacency.
struct TableDesign {
  std::uint64_t rows;             ///< n
  std::uint64_t minibatch;        ///< m: n for a full batch
  std::uint64_t steps_of_a_pass;  ///< b = ⌈n/m⌉: the last minibatch of a pass is filled up with zero gradients
  std::uint64_t steps;            ///< T
  std::uint64_t runs;             ///< how many runs share ρ
  bool of_users = false;          ///< the unit is the user, whose rows may be in every minibatch

  /// ⌈T/b⌉: how often a record takes part.
  [[nodiscard]] std::uint64_t passes() const noexcept { return (steps + steps_of_a_pass - 1) / steps_of_a_pass; }
  /// A record takes part k = ⌈T/b⌉ times, b steps apart. For a full batch, and for users, that is k = T and b = 1.
  [[nodiscard]] privacy::Participation participation() const;
  /// What all runs cost together, as the ledger adds it up.
  [[nodiscard]] Rho of_all_runs(Rho of_one) const;
};

/// Settles the minibatch of `config` and one run's share of ρ. For running sums it also settles the number of
/// releases, from which their correlation follows. Throws Failure(data) for an empty table, and
/// Failure(configuration) for a minibatch that is larger than the table, or a stage that begins after its last
/// record.
[[nodiscard]] TableDesign settle_design(config::Config& config, std::uint64_t rows);

/// The standard deviation that the noise leaves in a coordinate of the last iterate, in working coordinates and in a
/// direction in which the Hessian has the eigenvalue 1. A plan can state it before any data are read. For running
/// sums it is what the noise of the target's moments leaves in the last estimate. Empty where there is no formula.
[[nodiscard]] std::optional<double> predicted_stddev(const config::Config& config, const config::Mechanism& mechanism,
                                                     const TableDesign& design);

}  // namespace nustream::engine
