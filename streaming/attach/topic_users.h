// The users of a lane of a topic: their table, and the store of it, whose records are written in the lane's
// transactions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/users.h"
#include "engine/seal_batch.h"
#include "journal/journal.h"
#include "journal/state_record.h"
#include "nustream/users/changes.h"
#include "nustream/users/period.h"
#include "nustream/users/standings.h"
#include "users/topic_log.h"
#include "users/user_key.h"

namespace nustream::attach {

/// What the store of a lane's users is opened with.
struct UserStore {
  users::StoreIdentity identity;
  config::Users settings;
  users::Division division;
  users::LogSizes sizes;
  std::uint64_t end;  ///< the end of the lane's partition, read after all older producers were fenced
  /// The folder in which a table on disk stays for the next start. It is empty where the table ends with the process.
  std::filesystem::path state_folder{};
};

/// The changes of a batch pass through three places, one after the other:
///
///     open()        what the steps since the last close() changed: read by the steps that follow
///     close()       on their way: records and state of one transaction
///     committed()   that transaction has committed: the table takes them
///
/// So the table is always that of the committed steps, and a batch that does not commit leaves nothing behind. To be
/// used from one thread, except for what close() returns.
class TopicUsers {
 public:
  /// The users of a lane of which nothing is known: the store begins anew, whatever the topic holds.
  TopicUsers(const UserStore& store, users::UserKey key);
  /// The users of the state `before`: its key, and its table, rebuilt from what `read` finds. Throws Failure(data)
  /// where that is not the table that the state knows.
  TopicUsers(const UserStore& store, const journal::UsersOfState& before, const users::TopicLog::ReadFrom& read);
  TopicUsers(const TopicUsers&) = delete;
  TopicUsers& operator=(const TopicUsers&) = delete;

  /// Takes over entries from other lanes. To be called before the first step.
  void take_over(std::span<const users::Entry> entries);
  /// An epoch begins after one whose limits were `before`: counts and masses carry over.
  void carry_over(const users::Limits& before);
  /// An epoch begins that is charged beside what users spent before: everybody counts anew, except users who were
  /// closed, who stay closed.
  void begin_anew();

  [[nodiscard]] const users::UserKey& key() const noexcept { return key_; }
  [[nodiscard]] users::Changes& open() noexcept { return open_; }
  /// The clock of the windows of users; null where limits hold for ever.
  [[nodiscard]] users::WindowClock* clock() noexcept { return clock_ ? &*clock_ : nullptr; }

  /// Closes the batch. What it returns seals the records and the state of users for the next transaction, and is
  /// called once, on any thread, while open() takes the changes of the next batch. Contract: the transaction before
  /// has committed.
  [[nodiscard]] std::function<engine::UsersOfBatch()> close();
  /// That transaction has committed. `end` is one past the offset of the last record of the store that this process
  /// wrote; nothing before the first.
  void committed(std::optional<std::uint64_t> end);

 private:
  std::string identity_;
  users::Limits limits_;
  users::UserKey key_;
  std::unique_ptr<users::Standings> table_;
  // Of the batch in flight. The function that seals it holds them too.
  std::shared_ptr<users::Changes> closed_ = std::make_shared<users::Changes>(*table_);
  users::Changes open_{*table_, *closed_};
  std::optional<users::WindowClock> clock_;
  users::TopicLog log_;
  std::optional<users::TopicBatch> of_epoch_;  // records of a new epoch, written with its first batch
  struct InFlight;
  std::shared_ptr<const InFlight> in_flight_;  // null before the first close()
};

}  // namespace nustream::attach
