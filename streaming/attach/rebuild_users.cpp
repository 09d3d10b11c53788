// Tables from the records of the topic of users (docs/formats/users.md). In all three cases the digest in a sealed
// mark decides whether the table is right: records may be missing, repeated or of a restored topic.
#include "attach/rebuild_users.h"

#include "users/closing_mark.h"
#include "users/open_table.h"

namespace nustream::attach {
namespace {

/// Calls `rebuild(state)`. Where that finds the store lost, it calls it again with a state whose offsets are 0, so
/// that the records are looked for in the whole partition: a topic that was restored has them at other offsets.
template <class Rebuild>
auto here_or_elsewhere(const journal::UsersOfState& state, const Rebuild& rebuild) {
  if (auto here = unless_lost([&] { return rebuild(state); })) return *std::move(here);
  journal::UsersOfState elsewhere = state;
  users::TopicMark mark = users::decode_topic_mark(state.mark);
  mark.before.offset = mark.current.offset = 0;
  elsewhere.mark = users::encode_mark(mark);
  return rebuild(elsewhere);
}

}  // namespace

std::unique_ptr<TopicUsers> rebuilt_users(const UserStore& store, const journal::UsersOfState& before,
                                          const UsersPartition& partition, const std::string& lane) {
  const std::string closed = closing_key(store.identity, store.division.change);
  const auto read = [&](std::uint64_t from, const users::TopicLog::Take& take) {
    partition.reader(store.end)(from, [&](std::string_view key, std::string_view value) {
      // The closing mark stands among the lane's own records. A state before it must take no further step.
      if (key == closed) throw LaneWasClosed(lane);
      take(key, value);
    });
  };
  return here_or_elsewhere(
      before, [&](const journal::UsersOfState& state) { return std::make_unique<TopicUsers>(store, state, read); });
}

std::unique_ptr<users::Standings> table_of(const journal::UsersOfState& state, const UsersPartition& partition,
                                           bool on_disk) {
  const users::UserKey key(state.key);
  return here_or_elsewhere(state, [&](const journal::UsersOfState& known) {
    const users::TopicMark mark = users::decode_topic_mark(known.mark);
    auto table = users::scratch_table(on_disk, key);
    users::TopicLog(key, partition.identity(), *table, mark.division).look(mark, partition.reader(partition.end()));
    return table;
  });
}

std::unique_ptr<users::Standings> table_of_closed(const users::UserKey& key, const users::TopicMark& mark,
                                                  const UsersPartition& partition, bool on_disk) {
  const std::uint64_t end = partition.end();
  journal::UsersOfState known;
  // A closed lane's store ends with its mark, so that all of it is read.
  known.mark = users::encode_mark(mark);
  return here_or_elsewhere(known, [&](const journal::UsersOfState& state) {
    auto table = users::scratch_table(on_disk, key);
    users::TopicLog(key, partition.identity(), *table, mark.division)
        .load(users::decode_topic_mark(state.mark), end, partition.reader(end));
    return table;
  });
}

}  // namespace nustream::attach
