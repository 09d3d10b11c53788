// One record of a lane's store of users: a batch's changes, a part of the table, or the beginning of an epoch,
// numbered and sealed (docs/formats/users.md). The same bytes stand in a file and in a topic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/users/limits.h"
#include "nustream/users/standings.h"
#include "users/entry_bytes.h"
#include "users/user_key.h"

namespace nustream::users {

/// Whose store it is; in clear at the beginning of each file, and authenticated by every record.
struct StoreIdentity {
  std::string stream;
  LaneId lane;
};

enum class RecordKind : std::uint8_t {
  changes = 1,          ///< entries that a batch changed
  emptied_changes = 2,  ///< the same, over a table that the batch emptied before
  part = 3,             ///< all entries of one part of the table, after the record before
  epoch = 4             ///< an epoch began: every standing carried over
};

/// A record without its seal.
struct UserRecord {
  std::uint64_t number = 0;  ///< from 1, without a gap
  std::uint64_t commit = 0;  ///< the batch that it came with, from 1
  RecordKind kind = RecordKind::changes;
  std::uint8_t part = 0;              ///< of kind part
  std::vector<Entry> entries{};       ///< of changes and parts
  std::optional<Mass> mass_before{};  ///< of kind epoch, where W changed, with the next
  std::optional<Mass> mass_after{};
};

/// A record has at most so many entries.
inline constexpr std::size_t record_entries_max = std::size_t{1} << 16;
/// Bytes of a sealed record without its entries.
inline constexpr std::size_t record_heading_bytes = 22;
inline constexpr std::size_t record_overhead_bytes = record_heading_bytes + 24 + 16;
/// No sealed record is longer.
inline constexpr std::size_t record_bytes_max = record_overhead_bytes + record_entries_max * entry_bytes;

/// What every record of a store is sealed with beside its own heading: key fingerprint, lane, stream.
[[nodiscard]] std::string store_context(const UserKey& key, const StoreIdentity& identity);

/// Sealed under the key's log key and a nonce of 24 fresh random bytes.
[[nodiscard]] std::string seal_record(const UserKey& key, std::string_view context, const UserRecord& record);
/// The same with a nonce of the caller's: for tests of the format alone.
[[nodiscard]] std::string seal_record(const UserKey& key, std::string_view context, const UserRecord& record,
                                      std::span<const std::uint8_t, 24> nonce);

/// The length of the record at the front of `bytes`, its length field included, which may be more than there are; 0
/// where no record has that length; empty where there are too few bytes to tell.
[[nodiscard]] std::optional<std::size_t> record_size(std::string_view bytes);
/// The number and commit of such a record, not authenticated.
struct RecordPlace {
  std::uint64_t number;
  std::uint64_t commit;
};
[[nodiscard]] RecordPlace record_place(std::string_view bytes);

/// Which part it is of, not authenticated; empty where it is another kind of record.
[[nodiscard]] std::optional<std::uint8_t> part_of(std::string_view bytes);

/// Opens one whole record. Failure(data) where it is damaged, of another store, or no record.
[[nodiscard]] UserRecord open_record(const UserKey& key, std::string_view context, std::string_view bytes);

}  // namespace nustream::users
