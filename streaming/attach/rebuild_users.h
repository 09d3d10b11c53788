// Rebuilds the users of a lane of a topic from its store, and checks them against the digest in the lane's state.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "attach/topic_users.h"
#include "attach/users_partition.h"
#include "error.h"
#include "journal/state_record.h"
#include "kafka/client_error.h"
#include "users/open_table.h"

namespace nustream::attach {

/// Thrown where the lane's closing mark is committed: no further step of its epoch may be taken.
class LaneWasClosed : public Failure {
 public:
  explicit LaneWasClosed(const std::string& lane)
      : Failure(Exit::data,
                "lane " + lane +
                    ": the lane is closed, since the users of the stream are divided otherwise now (another number "
                    "of lanes, or another partitioner). Start every instance with the topic's present number of "
                    "partitions and the new users.partitioner, and with --new-epoch until all lanes have begun") {}
};

/// Returns what `rebuild()` gives, or nothing where it throws Failure(data) because the store is lost or another
/// lane's. A broker that fails and a lane that was closed are no such loss: their exceptions pass through.
template <class Rebuild>
[[nodiscard]] auto unless_lost(const Rebuild& rebuild) -> std::optional<decltype(rebuild())> {
  try {
    return rebuild();
  } catch (const kafka::KafkaFailure&) {
    throw;
  } catch (const LaneWasClosed&) {
    throw;
  } catch (const Failure& failure) {
    if (!users::tells_of_lost_store(failure)) throw;
  }
  return std::nullopt;
}

/// Rebuilds the users of the state `before`. The records are read from the offsets that the state knows, and, in a
/// topic that was restored under other offsets, from its beginning. Either way the state's digest decides whether the
/// table is the right one. Throws Failure(data) where the store is lost, lacks records, is older or newer than the
/// state, or is another lane's; and LaneWasClosed. `lane` names the lane in messages.
[[nodiscard]] std::unique_ptr<TopicUsers> rebuilt_users(const UserStore& store, const journal::UsersOfState& before,
                                                        const UsersPartition& partition, const std::string& lane);

/// Rebuilds the table alone, of a lane that another instance may be running: records that the store got after that
/// state are passed over. With `on_disk`, as running lanes keep it, the table is in a folder below $TMPDIR. Throws
/// Failure(data) as above, and where the running lane has written its store anew since.
[[nodiscard]] std::unique_ptr<users::Standings> table_of(const journal::UsersOfState& state,
                                                         const UsersPartition& partition, bool on_disk);
/// Rebuilds the table of a lane that was closed with `mark`: its store has no record behind the mark. Throws
/// Failure(data) as rebuilt_users() does.
[[nodiscard]] std::unique_ptr<users::Standings> table_of_closed(const users::UserKey& key,
                                                                const users::TopicMark& mark,
                                                                const UsersPartition& partition, bool on_disk);

}  // namespace nustream::attach
