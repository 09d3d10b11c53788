// What a ledger comes to, and how far a budget reaches.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "journal/ledger_chain.h"
#include "nustream/base/units.h"
#include "nustream/privacy/participation.h"
#include "nustream/users/charge.h"

namespace nustream::engine {

/// The most that any one record, or user, may have spent over all epochs: privacy::total of the entries, each
/// restated over the neighbours that are `asked` about. Of users users::charged(), since epochs over other records
/// may meet the same user. Failure(configuration) where an entry says nothing about them, or entries are about other
/// windows of time than each other.
[[nodiscard]] Rho total_spent(std::span<const journal::LedgerEntry> entries, privacy::Neighbours asked);

/// Failure(configuration) where a line is about users whose limits hold within other windows of time than `limits`,
/// or for ever where those do not: then neither says anything about the other's unit.
void require_same_windows(std::span<const journal::LedgerEntry> entries, const users::Limits& limits);

/// What a line says of users, over the neighbours that are `asked` about. Failure(configuration) where it says
/// nothing about users.
[[nodiscard]] users::Epoch epoch_of(const journal::LedgerEntry& entry, privacy::Neighbours asked);

/// The largest number of steps, at most `horizon`, after which `total` is at most `budget`. `total` is non-decreasing
/// and crosses `budget` somewhere, or there is a horizon; it is asked at galloping step counts.
[[nodiscard]] StepCount furthest_within(std::optional<StepCount> horizon, Rho budget,
                                        const std::function<Rho(StepCount)>& total);

}  // namespace nustream::engine
