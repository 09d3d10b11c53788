// A table of users from the records of its store, checked at every step (docs/formats/users.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "nustream/users/table.h"
#include "users/sealed_record.h"
#include "users/store_mark.h"

namespace nustream::users {

/// What became of one more record.
enum class Taken {
  applied,
  beyond,  ///< of the batch that was not committed: the caller cuts the store here
};

/// Puts records, in the order of the store, into an empty table. The store may begin anywhere before a whole round of
/// parts: what it lacks the digest shows. Every Failure(data) is one line, and says what to do.
class Rebuild {
 public:
  /// `context` as records were sealed with; `mark` of the state that is resumed.
  Rebuild(const UserKey& key, std::string context, const StoreMark& mark, Table& table);

  /// One whole sealed record. Failure(data) where it is damaged or of another store, where its number does not follow
  /// the one before (records are missing, twice or out of order), and where it belongs to a later batch than the one
  /// after the state: then the state was rolled back. Behind the mark a damaged record is what a crash left of the
  /// batch that was not committed.
  Taken take(std::string_view sealed);
  /// Whether the record of the mark was taken: what follows was not committed, and may be torn.
  [[nodiscard]] bool reached() const noexcept { return last_.value_or(0) >= mark_.number; }
  /// Bytes follow that are no record. Failure(data) where the mark is not reached.
  void torn() const;
  /// All records were taken. Failure(data) where the store ends before the mark, and where the table is not that of
  /// the digest: records are missing at its beginning, or are others than those that were committed.
  void finish() const;

 private:
  void require_known(const RecordPlace& place, std::string_view sealed) const;
  void apply(const UserRecord& record);

  const UserKey& key_;
  std::string context_;
  StoreMark mark_;
  Table& table_;
  std::optional<std::uint64_t> last_;  // number
};

}  // namespace nustream::users
