// A budget that several streams over the same people share. It is a file on one machine. Before a stream spends
// anything, it adds the most that it may spend to that file (docs/formats/account.md).
//
// The account adds up its members: the state folders that are charged to it, whatever their streams and lanes, since
// nobody knows which people two of them have in common. A member is charged by its last line: first the most that it
// may spend (a reservation), and once it has ended, what it has spent. It is never charged less than the most that it
// ever said it had spent.
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

/// Random bits that identify a member.
using MemberId = std::array<std::uint8_t, 16>;

/// A state folder that is charged.
struct Member {
  MemberId id{};
  std::string stream;
  LaneId lane{0};
};

/// What a member is charged.
struct Charge {
  Member member;
  Rho rho{0};
  bool is_reserved = false;  ///< true where `rho` is what it may spend at most; false where it has spent that
  Rho most_spent{0};         ///< the most that it ever said it had spent; `rho` is no less
};

/// What the file of an account says.
struct AccountBook {
  Rho budget{0};
  privacy::Neighbours neighbours{privacy::Adjacency::zero_out, false};
  std::vector<Charge> charges;  ///< the last charge of each member, in the order of their first charges

  /// The sum of all charges. It is above the budget where members had spent more before they were charged.
  [[nodiscard]] Rho total() const;
  /// The most that `member` may be charged while the total of all charges stays within the budget. Less than 2⁻⁴⁰ of
  /// the budget counts as 0.
  [[nodiscard]] Rho room_for(const Member& member) const;
  /// The last charge of that member; null where it has none. Valid until `charges` changes.
  [[nodiscard]] const Charge* charge_of(const MemberId& member) const;
};

/// Makes the account's file, with mode 0600. Throws Failure(configuration) where the file is there and not empty.
void create_account(Disk& disk, const Disk::Path& path, Rho budget, privacy::Neighbours neighbours);

/// Reads the account. A last line that a crash tore is left out: nobody was told that it was written. Throws
/// Failure(data) where a line was changed, left out or moved, and Failure(configuration) where there is no such file.
[[nodiscard]] AccountBook read_account(Disk& disk, const Disk::Path& path);

/// Reads the account under its lock, and charges `member` what `charged` returns for it. The charge is durable when
/// this returns. If the member once said that it had spent more than that, it is charged the most that it said.
///
/// Throws Failure(exhausted) where more is to be reserved than before and the total would exceed the account's
/// budget; nothing is written then. What was spent is a fact, and is written whatever the budget is. Waits up to ten
/// seconds for other processes, then throws Failure(locked).
void charge(Disk& disk, const Disk::Path& path, const Member& member,
            const std::function<Charge(const AccountBook& book)>& charged);

}  // namespace nustream::journal
