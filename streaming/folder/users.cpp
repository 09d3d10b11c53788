// The files of the store are a log of two files, used in turn (docs/formats/users.md); users::UserLog writes them.
// Here is what a folder adds: which mark of the log belongs to which state, and what becomes of the store when an
// epoch begins.
#include "folder/users.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "error.h"
#include "secrets/fields.h"
#include "users/going_on.h"
#include "users/open_table.h"

namespace nustream::folder {
namespace {

constexpr const char* malformed = "what the state holds of users is malformed; use the version that wrote it";

}  // namespace

users::StoreMark mark_of(const journal::UsersOfState& state) {
  secrets::FieldReader fields(state.mark, malformed);
  const users::StoreMark mark = users::take_mark(fields);
  if (!fields.rest().empty()) throw Failure(Exit::data, malformed);
  return mark;
}

// A file is replaced by an empty one instead of removed, because journal::Disk can make and rename files but not
// remove them.
void forget_store(journal::Disk& disk, const journal::Disk::Path& folder) {
  for (const unsigned file : {0U, 1U}) {
    const journal::Disk::Path path = users::UserLog::path(folder, file);
    if (disk.open(path, journal::Access::write)) {
      static_cast<void>(disk.create(path, journal::Audience::operators));
    }
  }
}

bool holds_store(const journal::Disk::Path& folder) {
  return std::ranges::any_of(std::array{0U, 1U}, [&](unsigned file) {
    std::error_code missing;
    const std::uintmax_t bytes = std::filesystem::file_size(users::UserLog::path(folder, file), missing);
    return !missing && bytes > 0;
  });
}

bool was_store_emptied(const journal::Disk::Path& folder) {
  const bool is_there = std::ranges::any_of(std::array{0U, 1U}, [&](unsigned file) {
    std::error_code unknown;
    return std::filesystem::exists(users::UserLog::path(folder, file), unknown);
  });
  return is_there && !holds_store(folder);
}

FolderUsers::FolderUsers(journal::Disk& disk, const journal::Disk::Path& folder, const users::StoreIdentity& identity,
                         const config::Users& settings, users::UserKey key)
    : identity_(settings.identity),
      limits_(*settings.limits),
      key_(std::move(key)),
      table_(users::open_table(settings.on_disk, folder, identity.lane, key_)),
      clock_(users::clock_of(limits_, nullptr)),
      log_(disk, folder, key_, identity, *table_) {
  open_.mask_numbers(users::mask_under(key_));
  // Emptied first, so that nothing of an older store can be read as this one's.
  forget_store(disk, folder);
  log_.load({});
}

FolderUsers::FolderUsers(journal::Disk& disk, const journal::Disk::Path& folder, const users::StoreIdentity& identity,
                         const config::Users& settings, const journal::UsersOfState& before)
    : identity_(settings.identity),
      limits_(*settings.limits),
      key_(before.key),
      table_(users::open_table(settings.on_disk, folder, identity.lane, key_)),
      clock_(users::clock_of(limits_, &before)),
      log_(disk, folder, key_, identity, *table_) {
  open_.mask_numbers(users::mask_under(key_));
  log_.load(mark_of(before));
}

void FolderUsers::carry_over(const users::Limits& before) {
  static_cast<void>(log_.append_epoch(users::mass_change(before, limits_)));
}

void FolderUsers::begin_anew() {
  clock_ = users::clock_of(limits_, nullptr);
  users::count_anew(*table_, open_);
}

journal::UsersOfState FolderUsers::close() {
  closed_.take_over(open_);
  journal::UsersOfState state;
  std::ranges::copy(key_.bytes(), state.key.begin());
  users::append_mark(log_.append(closed_), state.mark);
  // How users are told apart goes with them: an epoch that tells them apart in another way may not carry their counts
  // over.
  state.identity = identity_;
  users::keep_clock(clock_, state);
  return state;
}

void FolderUsers::committed() {
  log_.committed(closed_);
}

EpochUsers users_of_epoch(journal::Disk& disk, const journal::Disk::Path& folder,
                          const users::StoreIdentity& identity, const config::Users& settings,
                          const journal::UsersOfState* before, const std::optional<users::Limits>& limits_before,
                          bool may_carry_over) {
  if (before == nullptr) {
    return {std::make_unique<FolderUsers>(disk, folder, identity, settings, users::UserKey::draw())};
  }
  const bool carries_over = may_carry_over && before->identity == settings.identity && limits_before &&
                            users::are_of_one_kind(*limits_before, *settings.limits);
  try {
    auto known = std::make_unique<FolderUsers>(disk, folder, identity, settings, *before);
    if (carries_over) {
      known->carry_over(*limits_before);
    } else {
      known->begin_anew();
    }
    return {std::move(known), carries_over};
  } catch (const Failure& failure) {
    if (!users::tells_of_lost_store(failure)) throw;
  }
  // Nobody knows what users did, so both epochs are charged.
  return {std::make_unique<FolderUsers>(disk, folder, identity, settings, users::UserKey(before->key)), false, true};
}

std::unique_ptr<users::Standings> look_at_store(journal::Disk& disk, const journal::Disk::Path& folder,
                                                const journal::State& state) {
  const users::UserKey key(state.record.users->key);
  // Where the run keeps its table on disk because memory cannot hold it, this second table is on disk as well.
  const bool on_disk = std::filesystem::exists(users::table_folder(folder, state.identity.lane));
  auto table = users::scratch_table(on_disk, key);
  users::UserLog log(disk, folder, key, {state.identity.stream, state.identity.lane}, *table);
  log.look(mark_of(*state.record.users));
  return table;
}

}  // namespace nustream::folder
