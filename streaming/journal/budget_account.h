// A budget that several streams over the same people share: a file on one machine, to which each of them adds what it
// may spend before it spends any (docs/formats/account.md).
//
// What is summed are members: the state folders that were charged to the account, whatever their streams and lanes,
// since nobody knows which people two of them share. A member is charged what it said last: first what it may spend
// at most, and, once it has ended, what it spent; and never less than the most that it said it had spent.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "journal/disk.h"
#include "journal/running_hash.h"
#include "nustream/base/units.h"
#include "nustream/privacy/participation.h"

namespace nustream::journal {

/// Random bits that name a member.
using MemberId = std::array<std::uint8_t, 16>;

/// Who is charged.
struct Member {
  MemberId id{};
  std::string stream;
  LaneId lane{0};
};

/// What a member is charged.
struct Charge {
  Member member;
  Rho rho{0};
  bool is_reserved = false;  ///< what it may spend at most; else what it spent
  Rho most_spent{0};         ///< of all that it ever said it had spent; rho is no less
};

/// What the file says.
struct AccountBook {
  Rho budget{0};
  privacy::Neighbours neighbours{privacy::Adjacency::zero_out, false};
  std::vector<Charge> charges;  ///< the last one of each member, in the order of their first ones

  /// ρ of all of them together: the sum. Above the budget where members had spent more before they were charged.
  [[nodiscard]] Rho total() const;
  /// What `member` may be charged at most, beside the others, so that the total is within the budget; 0 where that is
  /// less than 2⁻⁴⁰ of the budget.
  [[nodiscard]] Rho room_for(const Member& member) const;
  /// The last charge of that member; nothing where it has none.
  [[nodiscard]] const Charge* charge_of(const MemberId& member) const;
};

/// Makes the file, mode 0600. Failure(configuration) where there is one.
void create_account(Disk& disk, const Disk::Path& path, Rho budget, privacy::Neighbours neighbours);

/// Failure(data) where a line was changed, left out or moved; Failure(configuration) where there is no such file. A
/// last line that a crash tore was never relied on, and is left out.
[[nodiscard]] AccountBook read_account(Disk& disk, const Disk::Path& path);

/// Reads the account and charges `member` what `charged` says, while nobody else does: durable when this returns.
/// Where it says less than the member spent before, that is charged. Failure(exhausted) where more is to be reserved
/// than before and the total would cross the account's budget; nothing is written then. What was spent is a fact, and
/// is written whatever the budget. Waits up to ten seconds for others, then Failure(locked).
void charge(Disk& disk, const Disk::Path& path, const Member& member,
            const std::function<Charge(const AccountBook& book)>& charged);

}  // namespace nustream::journal
