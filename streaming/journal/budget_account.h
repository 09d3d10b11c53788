// A budget that several streams over the same people share: a file on one machine, to which each of them adds what it
// may spend before it spends any (docs/formats/account.md).
//
// What is summed are members: the state folders that were charged to the account. A member is charged what it said
// last: first what it may spend at most, and, once it has ended, what it spent. Lanes of one stream hold different
// records, so that of them the dearest counts; streams add up.
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
};

/// What the file says.
struct AccountBook {
  Rho budget{0};
  privacy::Neighbours neighbours{privacy::Adjacency::zero_out, false};
  std::vector<Charge> charges;  ///< the last one of each member, in the order of their first ones

  /// ρ of all of them together: over the streams, of the dearest lane of each.
  [[nodiscard]] Rho total() const;
  /// What `member` may be charged at most, beside the others, so that the total is within the budget.
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
/// Failure(exhausted) where the total would cross the account's budget; nothing is written then. Waits up to ten
/// seconds for others, then Failure(locked).
void charge(Disk& disk, const Disk::Path& path, const Member& member,
            const std::function<Charge(const AccountBook& book)>& charged);

}  // namespace nustream::journal
