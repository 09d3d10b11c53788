// The users of a lane in a folder: their table, and the store of it. Changes are committed together with the steps
// that made them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "config/config.h"
#include "journal/disk.h"
#include "journal/state_record.h"
#include "nustream/base/units.h"
#include "nustream/users/changes.h"
#include "nustream/users/period.h"
#include "nustream/users/standings.h"
#include "users/store_mark.h"
#include "users/user_key.h"
#include "users/user_log.h"

namespace nustream::folder {

/// The changes of a batch pass through these places in order:
///
///     open()        what the steps since the last close() changed: read by the steps that follow
///     close()       sealed and appended to the store, its mark handed to the state that is committed next
///     sync()        durable, on the journal's thread, before that state is renamed
///     committed()   the state is durable: the table takes them
///
/// So the table is always that of the committed steps. A batch that is not committed leaves only bytes behind that
/// the next load cuts off.
class FolderUsers {
 public:
  /// The users of a lane without a known past: the store begins empty, whatever files are there.
  FolderUsers(journal::Disk& disk, const journal::Disk::Path& folder, const users::StoreIdentity& identity,
              const config::Users& settings, users::UserKey key);
  /// The users of the state `before`: its key, and its table, rebuilt from the store. Throws Failure(data) where the
  /// rebuilt table is not the table that the state knows.
  FolderUsers(journal::Disk& disk, const journal::Disk::Path& folder, const users::StoreIdentity& identity,
              const config::Users& settings, const journal::UsersOfState& before);
  FolderUsers(const FolderUsers&) = delete;
  FolderUsers& operator=(const FolderUsers&) = delete;

  /// An epoch begins after one whose limits were `before`: counts and masses carry over.
  void carry_over(const users::Limits& before);
  /// An epoch begins that is charged in addition to what users spent before: everybody counts anew, except users who
  /// were closed, who stay closed. The store changes with the epoch's first commit; until then it is that of the
  /// epoch before.
  void begin_anew();

  [[nodiscard]] const users::UserKey& key() const noexcept { return key_; }
  [[nodiscard]] users::Changes& open() noexcept { return open_; }
  /// The clock of the windows of users; null where limits hold for ever.
  [[nodiscard]] users::WindowClock* clock() noexcept { return clock_ ? &*clock_ : nullptr; }
  /// Closes the batch, and returns what the next state keeps of users. Contract: the batch before is committed.
  [[nodiscard]] journal::UsersOfState close();
  void sync() { log_.sync(); }
  void committed();

 private:
  std::string identity_;
  users::Limits limits_;
  users::UserKey key_;
  std::unique_ptr<users::Standings> table_;
  users::Changes closed_{*table_};  // of the batch in flight
  users::Changes open_{*table_, closed_};
  std::optional<users::WindowClock> clock_;
  users::UserLog log_;
};

/// How far the store had come at the state. Throws Failure(data) where the state's mark is malformed.
[[nodiscard]] users::StoreMark mark_of(const journal::UsersOfState& state);
/// Empties the files of a store whose key no state holds any more.
void forget_store(journal::Disk& disk, const journal::Disk::Path& folder);
/// Whether anything is in the files that forget_store() empties.
[[nodiscard]] bool holds_store(const journal::Disk::Path& folder);
/// Whether a store was kept in the folder, and was forgotten: its files are there, and are empty.
[[nodiscard]] bool was_store_emptied(const journal::Disk::Path& folder);

/// What an epoch of users begins with.
struct EpochUsers {
  std::unique_ptr<FolderUsers> users;
  bool carries_over = false;   ///< it goes on with the counts and masses of the epoch before it
  bool is_store_lost = false;  ///< nobody knows any more what users did, nor who was closed
};

/// Makes the users of an epoch that begins. Where `may_carry_over` is true, `before` tells users apart as `settings`
/// do and has limits of the same kind, and its store is whole, their counts are carried over. Otherwise everybody
/// counts anew. `before` is null where there is no state to go on from. The key of `before` is used in both cases,
/// for two reasons: a user who was closed has to stay closed, and a folder whose new epoch never commits still
/// belongs to the old epoch.
[[nodiscard]] EpochUsers users_of_epoch(journal::Disk& disk, const journal::Disk::Path& folder,
                                        const users::StoreIdentity& identity, const config::Users& settings,
                                        const journal::UsersOfState* before,
                                        const std::optional<users::Limits>& limits_before, bool may_carry_over);

/// Reads the store that `state` vouches for into a table for looking at. Throws Failure(data) where the store is not
/// the state's. Contract: the state holds users.
[[nodiscard]] std::unique_ptr<users::Standings> look_at_store(journal::Disk& disk, const journal::Disk::Path& folder,
                                                              const journal::State& state);

}  // namespace nustream::folder
