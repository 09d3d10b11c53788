// One record of a lane's store of users: the changes of a batch, a part of the table, or the beginning of an epoch.
// It is numbered and sealed (docs/formats/users.md), and its bytes are the same in a file and in a topic.
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

/// Whose store it is. It stands in clear at the beginning of each file, and every record is authenticated with it.
struct StoreIdentity {
  std::string stream;
  LaneId lane;
};

enum class RecordKind : std::uint8_t {
  changes = 1,          ///< entries that a batch changed
  emptied_changes = 2,  ///< the same, where the batch emptied the table first
  part = 3,             ///< all entries of one part of the table, as of the record before
  epoch = 4             ///< an epoch began, and every standing was carried over
};

/// A record without its seal.
struct UserRecord {
  std::uint64_t number = 0;  ///< counted from 1, without a gap
  std::uint64_t commit = 0;  ///< the number of the batch that it came with, counted from 1
  RecordKind kind = RecordKind::changes;
  std::uint8_t part = 0;              ///< for kind part: which one
  std::vector<Entry> entries{};       ///< for changes and parts
  std::optional<Mass> mass_before{};  ///< for kind epoch, where W changed
  std::optional<Mass> mass_after{};   ///< the same
};

/// The most entries of a record.
inline constexpr std::size_t record_entries_max = std::size_t{1} << 16;
/// The bytes of a record's heading, and of a sealed record without its entries: heading, nonce and tag.
inline constexpr std::size_t record_heading_bytes = 22;
inline constexpr std::size_t record_overhead_bytes = record_heading_bytes + 24 + 16;
/// The most bytes of a sealed record.
inline constexpr std::size_t record_bytes_max = record_overhead_bytes + record_entries_max * entry_bytes;

/// A record that waits for its seal. Entries become bytes as they are added, so that sealing needs nothing else of
/// the table and may be done later, on another thread.
class UnsealedRecord {
 public:
  UnsealedRecord(std::uint64_t number, std::uint64_t commit, RecordKind kind, std::uint8_t part = 0) noexcept
      : number_(number), commit_(commit), kind_(kind), part_(part) {}

  /// Makes room for this number of entries. A record that grows beyond its room leaves copies of its entries, which
  /// are keyed hashes and counts, in memory that is given back.
  void reserve(std::size_t entries);
  /// Adds an entry. Contract: there are fewer than record_entries_max.
  void add(const Entry& entry);
  /// For a record of kind epoch: its masses before and after, where W changed. To be called once.
  void add_masses(const std::optional<Mass>& before, const std::optional<Mass>& after);

  /// Which part of the table it holds; nothing for other kinds.
  [[nodiscard]] std::optional<std::uint8_t> part() const noexcept;
  /// The bytes that it will have with its seal.
  [[nodiscard]] std::size_t sealed_bytes() const noexcept { return record_overhead_bytes + plain_.size(); }
  /// Seals the record under the key's log key and `nonce`, in place, so that no plain copy is left of
  /// a record that had room. The caller never
  /// uses a nonce twice: only tests of the format bring their own.
  [[nodiscard]] std::string seal(const UserKey& key, std::string_view context,
                                 std::span<const std::uint8_t, 24> nonce) &&;
  /// The same under a nonce of 24 fresh random bytes.
  [[nodiscard]] std::string seal(const UserKey& key, std::string_view context) &&;

 private:
  [[nodiscard]] std::string heading() const;

  std::uint64_t number_;
  std::uint64_t commit_;
  RecordKind kind_;
  std::uint8_t part_;
  std::string plain_;
};

/// The bytes with which every record of a store is authenticated beside its own heading: key fingerprint, lane,
/// stream.
[[nodiscard]] std::string store_context(const UserKey& key, const StoreIdentity& identity);

/// The length of the record at the front of `bytes`, its length field included; it may be more than there are bytes.
/// 0 where no record can have that length; nothing where there are too few bytes to tell.
[[nodiscard]] std::optional<std::size_t> record_size(std::string_view bytes);
/// The number and commit in the heading of a record, which are not authenticated yet.
struct RecordPlace {
  std::uint64_t number;
  std::uint64_t commit;
};
[[nodiscard]] RecordPlace record_place(std::string_view bytes);

/// Which part of the table the record holds, by its heading, which is not authenticated yet; nothing for other kinds.
[[nodiscard]] std::optional<std::uint8_t> part_of(std::string_view bytes);

/// Opens one whole record. Throws Failure(data) where it is damaged, of another store, or no record.
[[nodiscard]] UserRecord open_record(const UserKey& key, std::string_view context, std::string_view bytes);

}  // namespace nustream::users
