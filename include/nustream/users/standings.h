// Every user's standing, wherever the table of them is kept: in memory (table.h), or beyond it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "nustream/users/gate.h"

namespace nustream::users {

/// A user: 128 bits of a keyed hash of the bytes of its identifier. The probability that some two of
/// 1e9 users have the same hash is 1e-21; they would then share one set of limits.
struct UserHash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  friend auto operator<=>(const UserHash&, const UserHash&) = default;
};

/// One user of a table. `number` is what its lane follows from (placement.h), which the caller masks under a key. An
/// entry keeps the number that it came with, also where a later partitioner gives the user another one: the digest of
/// the table has a term for the whole entry.
struct Entry {
  UserHash user;
  std::uint32_t number = 0;
  Standing standing;

  friend bool operator==(const Entry&, const Entry&) = default;
};

/// One user that a batch changed.
struct Change {
  Entry entry;
  Standing before;  ///< standing in the table; all zeros where the user is new or the batch emptied the table first
};

/// A map from the hash of the identifier to the user's standing. It holds the standings after the committed steps,
/// because batches change it by take() alone. A table that is not in memory may fail at any call that is not
/// noexcept, and then throws what its own header says.
///
/// The other members that change it are for code that rebuilds it from a durable store. No member is thread-safe.
class Standings {
 public:
  /// The number of parts in which a table can be read; a part is given by the first byte of the hash.
  static constexpr unsigned parts = 256;
  using Visit = std::function<void(const Entry& entry)>;
  using Carry = std::function<Standing(const Standing& standing)>;

  Standings() = default;
  virtual ~Standings() = default;
  Standings(const Standings&) = default;
  Standings& operator=(const Standings&) = default;
  Standings(Standings&&) = default;
  Standings& operator=(Standings&&) = default;

  [[nodiscard]] virtual std::size_t size() const noexcept = 0;
  /// The user's standing; all zeros for a user that is not there.
  [[nodiscard]] virtual Standing find(const UserHash& user) const = 0;
  /// The user's whole entry, which batches ask for where they change it. Its `user` is always the one that was asked
  /// for. For a user that is not there the standing is all zeros and the number means nothing.
  [[nodiscard]] virtual Entry entry_of(const UserHash& user) const = 0;
  /// Begins to load a user that will be asked for soon.
  virtual void prefetch(const UserHash& /*user*/) const noexcept {}
  /// Calls `visit(entry)` for each user whose hash begins with the byte `part`.
  virtual void visit_part(unsigned part, const Visit& visit) const = 0;

  /// Takes the changes of one batch, all of them or none. `emptied` says that the batch emptied the table before it
  /// made them. `mark` holds bytes of the caller that say which version of the table this is. A table that outlives
  /// the process keeps them beside its entries.
  virtual void take(std::span<const Change> changes, bool emptied, std::string_view mark) = 0;
  /// The last mark that was kept; empty where the table is new, in memory, or was changed otherwise since.
  [[nodiscard]] virtual std::string mark() const { return {}; }

  /// Makes room for this number of users. Entries that come in the order of their hashes need this first.
  virtual void reserve(std::size_t /*users*/) {}
  /// Sets entries, none of which may have a count of 0. size() counts them once settle() was called.
  virtual void put(std::span<const Entry> entries) = 0;
  /// Forgets everyone.
  virtual void clear() = 0;
  /// Replaces every standing by carry(standing), at the beginning of an epoch.
  virtual void change_all(const Carry& carry) = 0;
  /// Says that the table is whole: it has this number of users, and is the version that `mark` names.
  virtual void settle(std::size_t /*users*/, std::string_view /*mark*/) {}
};

}  // namespace nustream::users
