// What the entries of a ledger come to in all, and how many steps a budget allows.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "journal/ledger_chain.h"
#include "nustream/base/units.h"
#include "nustream/privacy/participation.h"
#include "nustream/users/charge.h"

namespace nustream::engine {

/// The most that any one record, or user, may have spent over all epochs (ρ of zCDP). Each entry is restated over the
/// neighbours that are `asked` about. Records are added by privacy::total(); users by users::charged(), since epochs
/// over different records may meet the same user. Throws Failure(configuration) where an entry says nothing about
/// those neighbours, or where entries are about different windows of time.
[[nodiscard]] Rho total_spent(std::span<const journal::LedgerEntry> entries, privacy::Neighbours asked);

/// Throws Failure(configuration) where a line is about records that end by another rule
/// (LedgerEntry::trusts_framing): lines and records have other numbers, so that nobody can tell which of them two
/// epochs share.
void require_same_framing(std::span<const journal::LedgerEntry> entries, bool is_trusted);

/// Throws Failure(configuration) where a line is about users whose limits hold within other windows of time than
/// `limits`; limits that hold for ever count as another window. Neither then says anything about the other's unit.
void require_same_windows(std::span<const journal::LedgerEntry> entries, const users::Limits& limits);

/// What a line says of users, over the neighbours that are `asked` about. Throws Failure(configuration) where it says
/// nothing about users.
[[nodiscard]] users::Epoch epoch_of(const journal::LedgerEntry& entry, privacy::Neighbours asked);

/// The largest number of steps, at most `horizon`, after which `total` is at most `budget`. `total` is
/// non-decreasing; without a horizon it has to exceed `budget` somewhere.
[[nodiscard]] StepCount furthest_within(std::optional<StepCount> horizon, Rho budget,
                                        const std::function<Rho(StepCount)>& total);

}  // namespace nustream::engine
