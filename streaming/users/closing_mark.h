// What an old lane says last of its users, before their number of lanes changes (docs/formats/users.md).
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

/// Behind it the lane takes no step of its epoch. Whoever takes its users over rebuilds its table from this mark.
struct ClosingMark {
  bool is_known = true;  ///< false where nobody knows the counts of its users; what they spent is known all the same
  /// Where the counts are not known, of a lane that was passed over: `closed` is everybody who was closed. Otherwise
  /// some of them may be lost.
  bool tells_closed = false;
  TopicMark mark{};
  Division next{};       ///< how users are divided from now on; that of lane 0 holds for all lanes
  std::string column{};  ///< privacy.user
  std::string
      spent{};  ///< a ledger line: what its users spent in all of the lane's epochs; empty of a lane that never began
  std::vector<Entry> closed{};  ///< of a lane without a store of its own: those who were closed, as far as is known
};

/// Sealed under the key's log key, for the lane of `identity` and its change number `change`.
[[nodiscard]] std::string seal_closing(const UserKey& key, const StoreIdentity& identity, std::uint32_t change,
                                       const ClosingMark& closing);
/// What seal_closing() gave. Failure(data) where it is damaged, or of another stream, lane or change.
[[nodiscard]] ClosingMark open_closing(const UserKey& key, const StoreIdentity& identity, std::uint32_t change,
                                       std::string_view bytes);
/// The key of its record: NAME/n/users/closed/CHANGE.
[[nodiscard]] std::string closing_key(const StoreIdentity& identity, std::uint32_t change);

}  // namespace nustream::users
