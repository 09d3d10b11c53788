// What measuring is, wherever the records come from: which settings can be measured, at which ρ, and what a table of
// records says of them.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "config/config.h"
#include "nustream/base/units.h"
#include "nustream/record/batch.h"
#include "secrets/keyring.h"

namespace nustream::measure {

/// Failure(configuration) for what cannot be measured, by settings alone: another loss, users, public features,
/// [[endogenous]] regressors, columns of indicators.
void require_measurable(const config::Config& asked);

/// How privacy.rho (or epsilon) is divided: both parts are over the same records, and add up to it.
struct Rhos {
  Rho ranges;  ///< of the measuring
  Rho rest;    ///< of the run
};
[[nodiscard]] Rhos rhos_of(const config::Config& asked);

/// Digest of what is measured, at which ρ, over values read how: not of what is found. `records`: of a stream those
/// that are measured; 0 for a file, of which all are.
[[nodiscard]] std::string rule_digest(const config::Config& asked, bool is_private, std::uint64_t records);

/// Raw values by rows, without an intercept; a record that cannot be used has no number.
struct RawTable {
  std::size_t features = 0;
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> weights;  ///< empty where records have none

  /// Takes rows behind those that are there; `unusable`: their numbers among all.
  void add(const record::RowBatch& rows, const std::vector<std::size_t>& unusable);
};
/// The schema that such a table is read under.
[[nodiscard]] record::Schema raw_schema(const config::Config& asked);

/// By public figures, before anything is spent: Failure(data) without a record, Failure(configuration) for fewer than
/// that ρ needs, Failure(exhausted) where measuring alone crosses privacy.budget.
void require_enough(const config::Config& asked, std::uint64_t records);

/// What measuring found.
struct Found {
  std::string ranges;            ///< StateRecord::ranges: values, or why it stopped
  std::exception_ptr failure{};  ///< to be thrown behind the commit of `ranges`, which tells of it
};
/// Measures, with the noise of an epoch's key that is drawn here and wiped: whoever is killed before the commit of
/// what this returns has shown nothing, and its noise is gone. Nothing of it may be shown before.
[[nodiscard]] Found find_ranges(const config::Config& asked, config::Purpose purpose, const RawTable& table,
                                const secrets::Keyring& keys, EpochId epoch, const std::string& rule);

/// The settings with what was measured in place of "private", and the ρ that is left for the run. Failure(data) where
/// `ranges` say that hardly anything was usable; `where`: of whom the line is.
[[nodiscard]] config::Config settled_config(const config::Config& asked, config::Purpose purpose,
                                            const std::string& ranges, const std::string& where,
                                            const std::string& remedy);

}  // namespace nustream::measure
