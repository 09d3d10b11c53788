// What an operator may do with the users of a topic's lanes: count them, and while nothing runs close some, end all.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>

#include "config/config.h"
#include "kafka/client_settings.h"
#include "kafka/lane_place.h"
#include "nustream/users/limits.h"
#include "secrets/keyring.h"
#include "users/user_counts.h"

namespace nustream::attach {

/// Of one lane, whether or not somebody runs it. Changes nothing. Failure(data) where it has no state with users, or
/// its store is not the one that its state knows.
[[nodiscard]] users::UserCounts count_users(const config::Config& config, const kafka::ClientSettings& client,
                                            const kafka::LanePlace& place, const secrets::Keyring& keys,
                                            const users::Limits& limits);

/// Closes the users whose identifiers stand one a line in `identifiers`, each in the lane where it counts: none of
/// them contributes again, in this epoch or a later one. Their entries stay, at their limits. A transaction a lane,
/// of its own transactional id; where that was interrupted it is called again. Returns how many lines there were.
///
/// Failure(locked) while the group has members; Failure(data) where a lane has no state, topics that contradict it,
/// or a store that is not its own, and while the number of lanes changes: nothing is closed then.
std::uint64_t close_users(const config::Config& config, const secrets::Keyring& keys, std::istream& identifiers);

/// Destroys the users' key in the state of every lane, and empties the stores: the stream is over. A lane whose state
/// holds no users stays as it is. Failures as above, and Failure(data) where no lane knows any.
void end_users(const config::Config& config, const secrets::Keyring& keys);

}  // namespace nustream::attach
