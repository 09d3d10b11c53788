// The users of a lane of a topic: their table and its store, whose records travel in the transactions of the lane.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/users.h"
#include "journal/journal.h"
#include "journal/state_record.h"
#include "nustream/users/changes.h"
#include "nustream/users/period.h"
#include "nustream/users/standings.h"
#include "users/topic_log.h"
#include "users/user_key.h"

namespace nustream::attach {

/// What the store of a lane begins from.
struct UserStore {
  users::StoreIdentity identity;
  config::Users settings;
  users::Division division;
  users::LogSizes sizes;
  std::uint64_t end;  ///< of the lane's partition of the store, once no older producer writes any more
  /// Where the table is, if it is on disk; empty for one of this process's own, which goes with it.
  std::filesystem::path state_folder{};
};

/// A batch's changes lie in three places, one after the other:
///
///     open()        what the steps since the last close() changed: read by the steps that follow
///     close()       sealed: records and state of one transaction
///     committed()   that transaction has committed: the table takes them
///
/// So the table is that of the committed steps, and a batch that does not commit leaves nothing behind. One thread.
class TopicUsers {
 public:
  /// Of a lane of whose users nothing is known: the store begins anew, whatever the topic holds.
  TopicUsers(const UserStore& store, users::UserKey key);
  /// Of a state that is gone on from: its key and its table, rebuilt from what `read` finds. Failure(data) where that
  /// is not the one that the state knows.
  TopicUsers(const UserStore& store, const journal::UsersOfState& before, const users::TopicLog::ReadFrom& read);
  TopicUsers(const TopicUsers&) = delete;
  TopicUsers& operator=(const TopicUsers&) = delete;

  /// Before anything is stepped: entries that this lane takes over from others.
  void take_over(std::span<const users::Entry> entries);
  /// An epoch begins behind the one whose limits were these: counts and masses carry over.
  void carry_over(const users::Limits& before);
  /// An epoch begins that is charged beside what users spent before: everybody counts anew, but for those who were
  /// closed.
  void begin_anew();

  [[nodiscard]] const users::UserKey& key() const noexcept { return key_; }
  [[nodiscard]] users::Changes& open() noexcept { return open_; }
  /// Null where limits hold for ever.
  [[nodiscard]] users::WindowClock* clock() noexcept { return clock_ ? &*clock_ : nullptr; }

  struct Closed {
    journal::UsersOfState state;
    std::vector<journal::KeyedRecord> records;
  };
  /// What the next transaction holds of users. Contract: the one before has committed.
  [[nodiscard]] Closed close();
  /// `end`: one past the offset of the last record of the store that this process wrote; nothing before the first.
  void committed(std::optional<std::uint64_t> end);

 private:
  std::string column_;
  users::Limits limits_;
  users::UserKey key_;
  std::unique_ptr<users::Standings> table_;
  users::Changes closed_{*table_};  // of the batch in flight
  users::Changes open_{*table_, closed_};
  std::optional<users::WindowClock> clock_;
  users::TopicLog log_;
  std::vector<journal::KeyedRecord> of_epoch_;  // that go with its first batch
};

}  // namespace nustream::attach
