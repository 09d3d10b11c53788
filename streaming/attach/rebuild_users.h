// The users of a lane of a topic from its store, as the lane's state vouches for them.
#pragma once

#include <memory>
#include <string>

#include "attach/topic_users.h"
#include "attach/users_partition.h"
#include "error.h"
#include "journal/state_record.h"

namespace nustream::attach {

/// The lane's closing mark is committed: no step of its epoch follows.
class LaneWasClosed : public Failure {
 public:
  explicit LaneWasClosed(const std::string& lane)
      : Failure(Exit::data,
                "lane " + lane +
                    ": the lane was closed: the users of the stream are divided otherwise from now on; start every "
                    "instance with the number of partitions and the users.partitioner that it was closed for, with "
                    "--new-epoch where that has not begun") {}
};

/// From where the state knows the records to be; in a topic that was restored under other offsets, from its
/// beginning. Either way the digest tells whether the table is the right one. Failure(data) where the store is lost,
/// thinned out, older, newer or another's; LaneWasClosed.
[[nodiscard]] std::unique_ptr<TopicUsers> rebuilt_users(const UserStore& store, const journal::UsersOfState& before,
                                                        const UsersPartition& partition, const std::string& lane);

/// Their table alone, of a lane that somebody may run: what the store has got since that state is passed over.
/// Failure(data) as above, and where a lane that runs has written its store anew since.
[[nodiscard]] users::Table table_of(const journal::UsersOfState& state, const UsersPartition& partition);

}  // namespace nustream::attach
