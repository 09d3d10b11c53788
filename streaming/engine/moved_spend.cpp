#include "engine/moved_spend.h"

#include <algorithm>
#include <vector>

#include "engine/spent.h"
#include "nustream/base/error.h"

namespace nustream::engine {
namespace {

/// Returns `line` with the spends of `epoch`. The limits stay those of the last epoch, whose units counts and masses
/// are in.
journal::LedgerEntry saying(journal::LedgerEntry line, const users::Epoch& epoch, privacy::Neighbours asked) {
  journal::UserSpend& user = *line.user;
  const std::uint32_t change = user.moved ? user.moved->change : 0;
  user.carries_over = false;
  user.by_count = epoch.by_count;
  if (epoch.mass) user.of_mass = epoch.of_mass;
  user.moved = {change, epoch.before};
  line.rho = line.rho_limit = users::charged({&epoch, 1});  // no further step of these epochs will be taken
  line.neighbours = asked;
  line.taken.reset();
  line.run.clear();
  return line;
}

}  // namespace

journal::LedgerEntry folded(std::span<const journal::LedgerEntry> lines, privacy::Neighbours asked) {
  NUSTREAM_REQUIRE(!lines.empty(), "a lane that has spent something");
  std::vector<users::Epoch> epochs;
  for (const journal::LedgerEntry& line : lines) epochs.push_back(epoch_of(line, asked));
  return saying(lines.back(), users::folded(epochs), asked);
}

journal::LedgerEntry dearest(const journal::LedgerEntry& one, const journal::LedgerEntry& other,
                             privacy::Neighbours asked) {
  journal::LedgerEntry line = one;
  line.steps = std::max(one.steps, other.steps);
  return saying(std::move(line), users::dearest(epoch_of(one, asked), epoch_of(other, asked)), asked);
}

journal::LedgerEntry without_counts(const journal::LedgerEntry& line, privacy::Neighbours asked) {
  return saying(line, users::without_counts(epoch_of(line, asked)), asked);
}

std::uint32_t changes_of_lanes(const journal::Ledger& ledger) {
  std::uint32_t changes = 0;
  for (const journal::LedgerEntry& line : ledger.epochs) {
    if (line.user && line.user->moved) changes = std::max(changes, line.user->moved->change);
  }
  return changes;
}

}  // namespace nustream::engine
