// Rebuilds a table of users from the records of its store, and checks every one of them (docs/formats/users.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "nustream/users/standings.h"
#include "users/damaged_table.h"
#include "users/sealed_record.h"
#include "users/store_mark.h"

namespace nustream::users {

/// What became of a record.
enum class Taken {
  applied,
  beyond,  ///< it belongs to a batch that was not committed: the caller cuts the store here
};

/// What a rebuild begins from.
enum class From {
  kept,     ///< the table as it is, which says up to which record it goes; those records are checked all the same
  nothing,  ///< an empty table
};

/// Whether a table says that it is an earlier one of the store of `mark`, or the very one.
[[nodiscard]] bool is_kept(const Standings& table, const StoreMark& mark);

/// Puts records, in the order of the store, into a table. The store may begin anywhere before a whole round of parts:
/// what it lacks the digest shows. Every Failure(data) is one line, and says what to do.
class Rebuild {
 public:
  /// `context` as records were sealed with; `mark` of the state that is resumed.
  Rebuild(const UserKey& key, std::string context, const StoreMark& mark, Standings& table, From from);

  /// Takes one whole sealed record. Throws Failure(data) where it is damaged or of another store; where its number
  /// does not follow the one before (records are missing, twice there or out of order); and where it belongs to a
  /// later batch than the one after the state, since the state was rolled back then. A damaged record behind the mark
  /// is no failure: a crash left it of the batch that was not committed.
  Taken take(std::string_view sealed);
  /// Whether the last record that the mark covers was taken. What follows was not committed, and may be torn.
  [[nodiscard]] bool reached() const noexcept { return last_.value_or(0) >= mark_.number; }
  /// The caller has found bytes that are no record. Throws Failure(data) where the mark is not reached.
  void torn() const;
  /// All records were taken. Failure(data) where the store ends before the mark, and where the table is not that of
  /// the digest: records are missing at its beginning, or are others than those that were committed. False where a
  /// table that was kept is not that of the digest: it is to be rebuilt from nothing.
  [[nodiscard]] bool finish();

 private:
  void require_known(const RecordPlace& place, std::string_view sealed) const;
  void apply(const UserRecord& record);

  const UserKey& key_;
  std::string context_;
  StoreMark mark_;
  Standings& table_;
  From from_;
  std::uint64_t kept_ = 0;             // number of the last record that the table holds already
  std::optional<std::uint64_t> last_;  // number
};

/// Rebuilds `table` by `read(rebuild)`, which gives it all records of the store: from what was kept where that agrees
/// with the mark, else from nothing, for which it reads the store once more.
template <class Read>
void rebuild_table(const UserKey& key, const std::string& context, const StoreMark& mark, Standings& table,
                   const Read& read) {
  if (is_kept(table, mark)) {
    try {
      Rebuild rebuild(key, context, mark, table, From::kept);
      read(rebuild);
      if (rebuild.finish()) return;
    } catch (const DamagedTable&) {  // what was kept cannot be read, and is made anew
    }
  }
  Rebuild rebuild(key, context, mark, table, From::nothing);
  read(rebuild);
  static_cast<void>(rebuild.finish());
}

}  // namespace nustream::users
