// The total of a ledger's entries, and how many steps a budget allows.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "config/config.h"
#include "config/mechanism.h"
#include "journal/ledger_chain.h"
#include "nustream/base/units.h"
#include "nustream/privacy/participation.h"
#include "nustream/users/charge.h"
#include "publish/epsilons.h"

namespace nustream::engine {

/// The most that any one record, or user, may have spent over all epochs (ρ of zCDP). Each entry is restated for the
/// neighbours `asked`. Records are added by privacy::total(). Users are added by users::charged(), because epochs
/// over different records may meet the same user. Throws Failure(configuration) where an entry says nothing about
/// those neighbours, or where entries are about different windows of time.
[[nodiscard]] Rho total_spent(std::span<const journal::LedgerEntry> entries, privacy::Neighbours asked);

/// Throws Failure(configuration) where a line is about records that end by another rule
/// (LedgerEntry::trusts_framing). Under the two rules records have different numbers, so nobody can say which of them
/// two epochs share.
void require_same_framing(std::span<const journal::LedgerEntry> entries, bool is_trusted);

/// Throws Failure(configuration) where a line is about users whose limits hold within other windows of time than
/// `limits`; limits that hold for ever count as another window. Neither of the two then says anything about the
/// other's unit.
void require_same_windows(std::span<const journal::LedgerEntry> entries, const users::Limits& limits);

/// What a line says of users, restated for the neighbours `asked`. Throws Failure(configuration) where it says
/// nothing about users.
[[nodiscard]] users::Epoch epoch_of(const journal::LedgerEntry& entry, privacy::Neighbours asked);

/// The largest number of steps, at most `horizon`, after which `total` is at most `budget`. `total` is
/// non-decreasing; without a horizon it has to exceed `budget` somewhere.
[[nodiscard]] StepCount furthest_within(std::optional<StepCount> horizon, Rho budget,
                                        const std::function<Rho(StepCount)>& total);

/// The spend of a person with as many records as each of publish::group_sizes, at the end of the epoch. Where a step
/// takes one record, it follows from the sensitivity to that many adjacent records. Otherwise it is the spend of one
/// record times the square of their number. Empty where the unit is the user, whom the promise covers already.
[[nodiscard]] std::vector<publish::GroupSpend> group_spends(const config::Config& config,
                                                            const config::Mechanism& mechanism);

/// That spend by the square of the number of records alone, where one record costs `rho` in all.
[[nodiscard]] std::vector<publish::GroupSpend> group_bounds(Rho rho, Delta delta);

/// All epochs of a lane as one line (users::folded()), restated for the neighbours `asked`. Contract: there is at
/// least one epoch. Throws Failure(configuration) where one of them says nothing about users, because an unknown
/// spend must not count as none.
[[nodiscard]] journal::LedgerEntry folded(std::span<const journal::LedgerEntry> epochs, privacy::Neighbours asked);
/// The line for users who may have been in either of two lanes: the larger spend of both (users::dearest()).
[[nodiscard]] journal::LedgerEntry dearest(const journal::LedgerEntry& one, const journal::LedgerEntry& other,
                                           privacy::Neighbours asked);
/// The line for users whose counts nobody knows any more (users::without_counts()): each may have spent the most.
[[nodiscard]] journal::LedgerEntry without_counts(const journal::LedgerEntry& line, privacy::Neighbours asked);

/// The limit of the epoch's spend (`rho_limit`), as its line says; nothing where no line is of this epoch.
[[nodiscard]] std::optional<Rho> limit_of(std::span<const journal::LedgerEntry> entries, EpochId epoch);

/// How often the number of lanes has changed so far, by the ledger of this lane.
[[nodiscard]] std::uint32_t changes_of_lanes(const journal::Ledger& ledger);

}  // namespace nustream::engine
