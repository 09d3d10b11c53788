// The last record that an old lane writes about its users, before users are divided among another number of lanes
// (docs/formats/users.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nustream/users/standings.h"
#include "users/sealed_record.h"
#include "users/topic_mark.h"
#include "users/user_key.h"

namespace nustream::users {

/// Once it is written, the lane takes no further step of its epoch. The lanes that take its users over rebuild its
/// table from this mark.
struct ClosingMark {
  bool is_known = true;  ///< false where nobody knows the counts of its users; `spent` is known all the same
  /// Matters where the counts are not known. True where `closed` holds everybody who was closed in the lane; false
  /// where some of them may be lost.
  bool tells_closed = false;
  TopicMark mark{};
  Division next{};         ///< how users are divided from now on; all lanes follow what lane 0's mark says here
  std::string identity{};  ///< journal::UsersOfState::identity of the lane
  std::string
      spent{};  ///< a ledger line of what its users spent in all epochs of the lane; empty if the lane never began
  std::vector<Entry> closed{};  ///< for a lane without a store of its own: the closed users, as far as they are known
};

/// Seals the mark under the key's log key, for the lane of `identity` and the change number `change`.
[[nodiscard]] std::string seal_closing(const UserKey& key, const StoreIdentity& identity, std::uint32_t change,
                                       const ClosingMark& closing);
/// Opens what seal_closing() gave. Throws Failure(data) where it is damaged, or of another stream, lane or change.
[[nodiscard]] ClosingMark open_closing(const UserKey& key, const StoreIdentity& identity, std::uint32_t change,
                                       std::string_view bytes);
/// The key of the mark's record in the topic: NAME/n/users/closed/CHANGE.
[[nodiscard]] std::string closing_key(const StoreIdentity& identity, std::uint32_t change);

}  // namespace nustream::users
