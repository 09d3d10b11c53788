// What a batch changes in the table of users, before the batch is committed.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "nustream/users/table.h"
#include "nustream/users/user_index.h"

namespace nustream::users {

/// One user that a batch changed.
struct Change {
  Entry entry;
  Standing before;  ///< in the table; all zeros where the user is new, or the batch emptied the table before
};

/// The table as a batch leaves it, while the table itself stays that of the committed steps: a batch that does not
/// commit leaves nothing behind. The table outlives it and changes by apply() alone.
class Changes {
 public:
  explicit Changes(const Table& table) : table_(&table) {}
  /// Over those of the batch before, which is on its way to be committed: what that changed is there already. `below`
  /// outlives this, lies over the same table, and is changed by take_over() and apply() alone while this holds any.
  Changes(const Table& table, const Changes& below) : table_(&table), below_(&below) {}

  [[nodiscard]] Standing find(const UserHash& user) const noexcept;
  /// Begins to load what find() looks at in the table.
  void prefetch(const UserHash& user) const noexcept { table_->prefetch(user); }
  void put(const Entry& entry);
  /// Everyone begins anew, and what the batch changed before is gone.
  void empty_table() noexcept;
  /// The border of a period: the same, but for the persons who were closed, whose entries stay as they are: one that
  /// was dropped could count again. Reads the whole table once.
  void begin_window();

  /// Whether the batch emptied the table before the changes.
  [[nodiscard]] bool emptied() const noexcept { return emptied_; }
  /// In the order in which users were met; each once.
  [[nodiscard]] std::span<const Change> all() const noexcept { return changes_; }

  /// Once the batch is committed: changes the table, which is the one that was given, and begins the next batch.
  void apply(Table& table);
  /// The batch did not commit.
  void forget() noexcept;
  /// Closes the batch that `above`, which lies over these, holds: they are its changes now, and `above` begins the
  /// next batch. Contract: these hold none.
  void take_over(Changes& above);

 private:
  [[nodiscard]] Standing before(const UserHash& user) const noexcept;
  template <class Visit>
  void visit(const Visit& visit) const;

  const Table* table_;
  const Changes* below_ = nullptr;
  bool emptied_ = false;
  UserIndex index_;
  std::vector<Change> changes_;
};

}  // namespace nustream::users
