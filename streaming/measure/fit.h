// Measures settings privately, wherever the records come from: which settings can be measured, at which ρ, and what a
// table of records says of them.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "journal/ledger_chain.h"
#include "nustream/base/units.h"
#include "nustream/ranges/table_fit.h"
#include "nustream/record/batch.h"
#include "nustream/record/schema.h"
#include "nustream/users/period.h"
#include "secrets/keyring.h"

namespace nustream::measure {

/// Throws Failure(configuration) for settings that cannot be measured, by the settings alone: with another loss, with
/// public features, with [[endogenous]] regressors, with momentum, with columns of indicators, or of a pipe.
void require_measurable(const config::Config& asked);
/// Throws Failure(exhausted) where privacy.budget does not pay for the measuring and the run behind it: it would end
/// the run early, maybe before a step, and what the measuring costs would be lost. By the settings alone.
void require_budget(const config::Config& asked);
/// What attach refuses of settings that are to be measured, before it asks a broker: require_measurable(), and
/// require_enough() for ranges.records.
void require_measurable_in_topic(const config::Config& asked);
/// The same for check and plan, which do not know the command that will run: they refuse what attach refuses where
/// the settings name brokers and no file, and what require_budget() refuses. Settings that are all numbers pass.
void require_measurable_by_any(const config::Config& asked);

/// How privacy.rho (or epsilon) is divided. Both parts are over the same records, or users, and together are what was
/// asked for.
struct Rhos {
  Rho ranges;  ///< for the measuring
  Rho rest;    ///< for the run
};
[[nodiscard]] Rhos rhos_of(const config::Config& asked);

/// A digest of what is measured, at which ρ, and how values are read. It does not depend on what is found. `records`
/// is the number of records of a stream that are measured; 0 stands for a file, all of whose records are measured.
[[nodiscard]] std::string rule_digest(const config::Config& asked, bool is_private, std::uint64_t records);

/// Values as they were read, by rows, without an intercept. All values of a record that cannot be used are NaN.
struct RawTable {
  std::size_t features = 0;
  std::vector<double> x{};
  std::vector<double> y{};
  std::vector<double> weights{};  ///< empty where records have none
  ranges::PublicUnits units{};    ///< weight.max and exposure.max
  /// Whose each row is, for the fit, which sums and shortens the rows of one user together; empty where the unit is
  /// the record. Where limits hold within windows of time, a user in each window is a user of its own here: the unit
  /// is then all records of a user within one window, and its rows must not share a bound with rows of other windows.
  std::vector<record::RowUser> users{};
  std::optional<users::WindowClock> clock{};  ///< of those windows; empty where limits hold for ever

  /// Appends rows, in the order of the stream. `unusable` are the numbers, among all rows, of those that cannot be
  /// used.
  void add(const record::RowBatch& rows, const std::vector<std::size_t>& unusable);

 private:
  void divide_by_windows(std::span<const double> times);
  std::size_t divided_ = 0;  // how many rows know their window
};
/// The schema under which such a table is read: that of `asked`, without an intercept.
[[nodiscard]] record::Schema raw_schema(const config::Config& asked);
/// An empty table for rows of that schema.
[[nodiscard]] RawTable raw_table(const config::Config& asked);

/// Checks, before anything is spent and by public figures alone, that measuring is possible. Throws Failure(data)
/// where there is no record, and Failure(configuration) where there are fewer than the ρ of the measuring needs.
void require_enough(const config::Config& asked, std::uint64_t records);

/// How many users show through the noise of one histogram of the measuring, roughly: each counts once there.
[[nodiscard]] std::uint64_t enough_users(const config::Config& asked);

/// What the measuring costs each user; nothing where the unit is the record. The user's limits are about the run
/// alone. The measuring counts nobody: of each of its releases, all records of a user together move it by no more
/// than its sensitivity. So its line says that a user takes part once, and carries no counts over.
[[nodiscard]] std::optional<journal::UserSpend> user_spend(const config::Config& asked);

/// What measuring found.
struct Measured {
  std::string ranges;            ///< StateRecord::ranges: the values, or why it stopped
  std::exception_ptr failure{};  ///< a failure to be thrown after `ranges`, which tells of it, is committed
};
/// Measures, with noise from an epoch's key that is drawn and wiped here. Nothing of what it returns may be shown
/// before it is committed. So a process that is killed before the commit has shown nothing, and its noise is gone.
[[nodiscard]] Measured find_ranges(const config::Config& asked, config::Purpose purpose, const RawTable& table,
                                   const secrets::Keyring& keys, EpochId epoch, const std::string& rule);

/// Further lines of `ranges` where only a first part of a stream is measured: `moments.stages` becomes "growing" for
/// running sums whose units are measured, unless the settings have stages, or something with which units cannot grow
/// (config/read_moments.cpp). As a line of `ranges` it holds for streams that are measured now, and for no stream
/// that an earlier version has measured.
[[nodiscard]] std::string lines_of_a_part(const config::Config& asked);

/// The settings with what was measured in place of "private", and with the ρ that is left for the run. Throws
/// Failure(data) where `ranges` say that hardly any record was usable. In that message `where` names the place where
/// this was found, and `remedy` says what to do then.
[[nodiscard]] config::Config settled_config(const config::Config& asked, config::Purpose purpose,
                                            const std::string& ranges, const std::string& where,
                                            const std::string& remedy);

/// For each feature, and then for the target, whether its centre and its scale are kept, and so not measured.
[[nodiscard]] std::vector<ranges::Kept> kept_of(const config::Config& asked);

/// A value for each of asked.measuring.keys, as --set takes it. They are functions of noisy results and public
/// figures alone. `fit` is over `records` records that were read under `asked`.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> values_of(const config::Config& asked,
                                                                         config::Purpose purpose,
                                                                         const ranges::TableFit& fit,
                                                                         std::uint64_t records);

}  // namespace nustream::measure
