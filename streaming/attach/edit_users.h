// What an operator may do with the users of a topic's lanes: count them at any time, and, while no instance runs,
// close some of them or end them all.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>

#include "config/config.h"
#include "kafka/client_settings.h"
#include "kafka/partition.h"
#include "nustream/users/limits.h"
#include "secrets/keyring.h"
#include "users/closing.h"
#include "users/user_totals.h"

namespace nustream::attach {

/// Counts the users of one lane, whether or not an instance runs it. Changes nothing. Throws Failure(data) where the
/// lane has no state with users, or where its store is not the one that its state knows.
[[nodiscard]] users::UserTotals count_users(const config::Config& config, const kafka::ClientSettings& client,
                                            const kafka::LanePlace& place, const secrets::Keyring& keys,
                                            const users::Limits& limits);

/// Closes the users whose identifiers stand in `identifiers`, one on each line, each in the lane where that user
/// counts. A closed user contributes to no step any more, in this epoch or a later one; the user's entry stays, and
/// says that it is closed. Each lane is changed in one transaction under the lane's own transactional id. After an
/// interrupted call the same call is made again. Returns what the lines named.
///
/// Throws Failure(locked) while the group has members. Throws Failure(data) where no line names a user, where a lane
/// has no state, topics that contradict it or a store that is not its own, and while the number of lanes changes; a
/// lane that is refused is left as it was.
users::NamedUsers close_users(const config::Config& config, const secrets::Keyring& keys, std::istream& identifiers);

/// Destroys the users' key in the state of every lane, and empties the stores of users: the stream is over. A lane
/// whose state holds no users stays as it is. Throws as close_users() does, and Failure(data) where the state of no
/// lane holds users.
void end_users(const config::Config& config, const secrets::Keyring& keys);

}  // namespace nustream::attach
