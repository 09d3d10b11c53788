// Counts a table for the operator, in one pass over its entries. The counts are exact and without noise, so that they
// must never reach a public page.
#include "users/user_totals.h"

#include <algorithm>
#include <cstddef>

#include "nustream/users/gate.h"

namespace nustream::users {
namespace {

// Without a limit of contributions, or with a large one, the last of 64 numbers stands for "that often or more".
constexpr std::uint64_t counts_max = 64;

/// Counts one user.
void add(const Standing& standing, const Limits& limits, UserTotals& counts) {
  ++counts.entries;
  // A step so far behind the user's last one that no separation between two contributions stands in the way.
  const StepIndex later{standing.next + (std::uint64_t{1} << 40)};
  if (!may_contribute(limits, standing, later)) ++counts.at_limit;
  // The count of a closed user is a mark and no number of contributions.
  if (standing.count == closed_count) return;
  ++counts.by_count[std::min<std::size_t>(standing.count, counts.by_count.size()) - 1];
}

}  // namespace

UserTotals count_users(const Standings& table, const Limits& limits) {
  UserTotals counts;
  const auto& participation = limits.participation();
  counts.by_count.resize(participation ? std::min(participation->times(), counts_max) : counts_max);
  for (unsigned part = 0; part < Standings::parts; ++part) {
    table.visit_part(part, [&](const Entry& entry) { add(entry.standing, limits, counts); });
  }
  return counts;
}

}  // namespace nustream::users
