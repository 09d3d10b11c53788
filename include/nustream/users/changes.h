// What a batch changes in the table of users, kept apart until the batch is committed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/users/huge_pages.h"
#include "nustream/users/standings.h"
#include "nustream/users/user_index.h"

namespace nustream::users {

/// The table as a batch leaves it. The table itself stays that of the committed steps and changes by apply() alone,
/// so a batch that does not commit leaves nothing behind. The table must outlive this object.
class Changes {
 public:
  explicit Changes(const Standings& table) : table_(&table) {}
  /// Changes on top of those of the batch before, which is on its way to be committed: what that batch changed is
  /// seen here already. `below` must outlive this object and lie over the same table. While this object holds
  /// changes, `below` may be changed by take_over() and apply() alone.
  Changes(const Standings& table, const Changes& below) : table_(&table), below_(&below) {}

  /// What is kept of the number of a user who is new.
  using Mask = std::function<std::uint32_t(const UserHash& user, std::uint32_t number)>;
  /// Masks the numbers that change() is given. Without a mask they are kept as they come.
  void mask_numbers(Mask mask) { mask_ = std::move(mask); }

  [[nodiscard]] Standing find(const UserHash& user) const;
  /// The user's whole entry. Where find() gives zeros, the entry's number means nothing.
  [[nodiscard]] Entry entry_of(const UserHash& user) const;
  /// Begins to load what find() will look at.
  void prefetch(const UserHash& user) const noexcept {
    index_.prefetch(user);
    if (below_ != nullptr) below_->index_.prefetch(user);
    table_->prefetch(user);
  }
  /// Goes on with what prefetch() began, once that has come: begins to load the changes that it may lead to.
  void prefetch_change(const UserHash& user) const noexcept {
    if (const std::size_t number = index_.likely(user); number < changes_.size())
      __builtin_prefetch(&changes_[number]);
    if (below_ != nullptr) below_->prefetch_change(user);
  }
  /// Sets the user's standing. A user who is in the table keeps the number that it has there. The entry's number is
  /// that of a table, and so is masked already.
  void put(const Entry& entry) { set(entry_of(entry.user), entry.standing, entry.number, nullptr); }
  /// Sets the user's standing to `next` of what find() gives, in one look-up. `number` is that of a user who is new.
  template <class Next>
  void change(const UserHash& user, std::uint32_t number, const Next& next) {
    change(entry_of(user), number, next);
  }
  /// As above, for a user whose entry_of() is `there`.
  template <class Next>
  void change(const Entry& there, std::uint32_t number, const Next& next) {
    set(there, next(there.standing), number, mask_ ? &mask_ : nullptr);
  }
  /// Lets everyone begin anew, and drops what the batch changed before.
  void empty_table() noexcept;
  /// Lets everyone begin anew at the border of a window, except the persons who were closed: their entries stay as
  /// they are, since one that was dropped could count again. Reads the whole table once.
  void begin_window();

  /// Whether the batch emptied the table before it made the changes of all().
  [[nodiscard]] bool emptied() const noexcept { return emptied_; }
  /// All changed users, in the order in which they were met; each is there once.
  [[nodiscard]] std::span<const Change> all() const noexcept { return changes_; }

  /// Changes the table once the batch is committed, and begins the next batch. `table` must be the one that was given
  /// to the constructor; `mark` is the one of Standings::take().
  void apply(Standings& table, std::string_view mark = {});
  /// Drops the changes: the batch did not commit.
  void forget() noexcept;
  /// Closes the batch of `above`, which lies over this object. Its changes become those of this object, and `above`
  /// begins the next batch. This object must hold no changes.
  void take_over(Changes& above);

 private:
  void set(const Entry& there, const Standing& after, std::uint32_t number, const Mask* mask);
  template <class Visit>
  void visit(const Visit& visit) const;

  const Standings* table_;
  const Changes* below_ = nullptr;
  bool emptied_ = false;
  UserIndex index_;
  std::vector<Change, HugePages<Change>> changes_;
  Mask mask_;  // empty where numbers are kept as they come
};

}  // namespace nustream::users
