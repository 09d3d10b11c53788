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
#include "users/damaged_table.h"

namespace nustream::attach {

/// Thrown where the lane's closing mark is committed: no further step of its epoch may be taken.
class LaneWasClosed : public Failure {
 public:
  explicit LaneWasClosed(const std::string& lane)
      : Failure(Exit::data,
                "lane " + lane +
                    ": the lane was closed: the users of the stream are divided otherwise from now on; start every "
                    "instance with the number of partitions and the users.partitioner that it was closed for, with "
                    "--new-epoch where that has not begun") {}
};

/// Returns what `rebuild()` gives, or nothing where it throws Failure(data), which it does where the store is lost or
/// another lane's. A broker that fails and a lane that was closed are no such loss: their exceptions pass through.
template <class Rebuild>
[[nodiscard]] auto unless_lost(const Rebuild& rebuild) -> std::optional<decltype(rebuild())> {
  try {
    return rebuild();
  } catch (const kafka::KafkaFailure&) {
    throw;
  } catch (const LaneWasClosed&) {
    throw;
  } catch (const users::DamagedTable&) {
    throw;  // the copy on disk is damaged, not the store
  } catch (const Failure& failure) {
    if (failure.code() != Exit::data) throw;
  }
  return std::nullopt;
}

/// Rebuilds the users of the state `before`. The records are read from the offsets that the state knows, and, in a
/// topic that was restored under other offsets, from its beginning. Either way the state's digest decides whether the
/// table is the right one. Throws Failure(data) where the store is lost, lacks records, is older or newer than the
/// state, or is another lane's; and LaneWasClosed. `lane` names the lane in messages.
[[nodiscard]] std::unique_ptr<TopicUsers> rebuilt_users(const UserStore& store, const journal::UsersOfState& before,
                                                        const UsersPartition& partition, const std::string& lane);

/// Their table alone, of a lane that somebody may run: what the store has got since that state is passed over.
/// Failure(data) as above, and where a lane that runs has written its store anew since.
/// Where it is kept `on_disk` by those who run, it is in a folder below $TMPDIR.
[[nodiscard]] std::unique_ptr<users::Standings> table_of(const journal::UsersOfState& state,
                                                         const UsersPartition& partition, bool on_disk);
/// The same of a lane that is closed with this mark, behind which its store has nothing: Failure(data) as of
/// rebuilt_users().
[[nodiscard]] std::unique_ptr<users::Standings> table_of_closed(const users::UserKey& key,
                                                                const users::TopicMark& mark,
                                                                const UsersPartition& partition, bool on_disk);

}  // namespace nustream::attach
