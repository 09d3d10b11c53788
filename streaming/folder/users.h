// The users of a lane in a folder: their table and its store, whose changes go with the commit of the steps that made
// them.
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

/// A batch's changes lie in three places, one after the other:
///
///     open()        what the steps since the last close() changed: read by the steps that follow
///     close()       sealed and appended to the store, its mark handed to the state that is committed next
///     sync()        durable, on the journal's thread, before that state is renamed
///     committed()   the state is durable: the table takes them
///
/// So the table is that of the committed steps, and an uncommitted batch leaves nothing behind but bytes that the
/// next load cuts off.
class FolderUsers {
 public:
  /// Of a lane of whose users nothing is known: the store begins empty, whatever files are there.
  FolderUsers(journal::Disk& disk, const journal::Disk::Path& folder, const users::StoreIdentity& identity,
              const config::Users& settings, users::UserKey key);
  /// Of a state that is gone on from: its key and its table, rebuilt from the store. Failure(data) where that is not
  /// the one that the state knows.
  FolderUsers(journal::Disk& disk, const journal::Disk::Path& folder, const users::StoreIdentity& identity,
              const config::Users& settings, const journal::UsersOfState& before);
  FolderUsers(const FolderUsers&) = delete;
  FolderUsers& operator=(const FolderUsers&) = delete;

  /// An epoch begins behind the one whose `limits` were these: counts and masses carry over.
  void carry_over(const users::Limits& before);
  /// An epoch begins that is charged beside what users spent before: everybody counts anew, but for those who were
  /// closed. The store takes that with the epoch's first commit; until then it is that of the epoch before.
  void begin_anew();

  [[nodiscard]] const users::UserKey& key() const noexcept { return key_; }
  [[nodiscard]] users::Changes& open() noexcept { return open_; }
  /// Null where limits hold for ever.
  [[nodiscard]] users::WindowClock* clock() noexcept { return clock_ ? &*clock_ : nullptr; }
  /// What the next state keeps. Contract: the batch before is committed.
  [[nodiscard]] journal::UsersOfState close();
  void sync() { log_.sync(); }
  void committed();

 private:
  std::string column_;
  users::Limits limits_;
  users::UserKey key_;
  std::unique_ptr<users::Standings> table_;
  users::Changes closed_{*table_};  // of the batch in flight
  users::Changes open_{*table_, closed_};
  std::optional<users::WindowClock> clock_;
  users::UserLog log_;
};

/// How far the store had come that a state speaks of. Failure(data) where it does not say so.
[[nodiscard]] users::StoreMark mark_of(const journal::UsersOfState& state);
/// Empties the files of a store whose key no state holds any more.
void forget_store(journal::Disk& disk, const journal::Disk::Path& folder);

/// Where the unit is the user: carried over from `before` where its users are the same ones and its store is whole;
/// else `carries_over` becomes false, and everybody counts anew. The key is that of `before` all the same: a stream
/// has one, so that whoever was closed stays closed, and a folder whose new epoch never commits is still that of the
/// old one. `before` is null where there is no state to go on from.
[[nodiscard]] std::unique_ptr<FolderUsers> users_of_epoch(journal::Disk& disk, const journal::Disk::Path& folder,
                                                          const users::StoreIdentity& identity,
                                                          const config::Users& settings,
                                                          const journal::UsersOfState* before,
                                                          const std::optional<users::Limits>& limits_before,
                                                          bool& carries_over);

}  // namespace nustream::folder
