// Rebuilds a table of users from the records of its store, and checks every one of them (docs/formats/users.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "nustream/users/standings.h"
#include "users/open_table.h"
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

/// Whether a table says that it holds the store as of `mark`, or as of an earlier mark.
[[nodiscard]] bool is_kept(const Standings& table, const StoreMark& mark);

/// Puts records into a table, in the order of the store. The first record may be any one, as long as all parts of the
/// table come with it or behind it. If the store begins too late, the digest shows that. Every Failure(data) is one
/// line, and says what to do.
class Rebuild {
 public:
  /// `context` is what the records were sealed with (store_context()). `mark` is that of the state that is resumed.
  Rebuild(const UserKey& key, std::string context, const StoreMark& mark, Standings& table, From from);

  /// Takes one whole sealed record. Throws Failure(data) where it is damaged or of another store; where its number
  /// does not follow the one before (records are missing, twice there or out of order); and where it belongs to a
  /// later batch than the one after the state, since the state was rolled back then. A damaged record behind the mark
  /// is no failure: it is what a crash left of the batch that was not committed.
  Taken take(std::string_view sealed);
  /// Whether the last record that the mark covers was taken. What follows was not committed, and may be torn.
  [[nodiscard]] bool reached() const noexcept { return last_.value_or(0) >= mark_.number; }
  /// The caller has found bytes that are no record. Throws Failure(data) where the mark is not reached.
  void torn() const;
  /// To be called after the last record. Returns false where a table that was kept does not have the mark's digest:
  /// it has to be rebuilt from nothing. Throws Failure(data) where the store ends before the mark, and where a table
  /// that was rebuilt does not have the digest: records are missing at the store's beginning, or are not those that
  /// were committed.
  [[nodiscard]] bool finish();

 private:
  void require_known(const RecordPlace& place, std::string_view sealed) const;
  void apply(const UserRecord& record);

  const UserKey& key_;
  std::string context_;
  StoreMark mark_;
  Standings& table_;
  From from_;
  std::uint64_t kept_ = 0;             // the number of the last record that the table holds already
  std::optional<std::uint64_t> last_;  // the number of the record that was taken last
};

/// Rebuilds `table`. `read(rebuild)` gives all records of the store to a Rebuild. A first Rebuild goes on from what
/// the table has kept. If that does not give the mark's digest, a second one reads the store into an empty table.
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
