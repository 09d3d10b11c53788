#include "users/new_epoch.h"

#include "nustream/users/gate.h"

namespace nustream::users {

bool are_of_one_kind(const Limits& before, const Limits& now) {
  if (before.windows() || now.windows()) return false;
  return before.participation().has_value() == now.participation().has_value() &&
         before.mass().has_value() == now.mass().has_value();
}

std::optional<std::pair<Mass, Mass>> mass_change(const Limits& before, const Limits& now) {
  if (!before.mass() || !now.mass() || *before.mass() == *now.mass()) return std::nullopt;
  return std::pair(*before.mass(), *now.mass());
}

void count_anew(const Standings& table, Changes& open) {
  open.empty_table();
  for (unsigned part = 0; part < Standings::parts; ++part) {
    table.visit_part(part, [&](const Entry& entry) {
      if (entry.standing.count == closed_count) open.put({entry.user, entry.number, closed({})});
    });
  }
}

}  // namespace nustream::users
