// A digest of all entries of the table, changed with each of them: what a lane's state holds of it
// (docs/formats/users.md).
#pragma once

#include <span>

#include "nustream/users/changes.h"
#include "users/user_key.h"

namespace nustream::users {

/// Σ PRF(entry) mod 2^128 over the entries of the table, in any order; 0 of an empty one.
///
/// Why a sum is enough: the key of the PRF is the stream's, so that its terms are like random numbers to whoever
/// lacks it, and neither terms nor digests are ever shown. Each user has one entry, so that two tables that differ
/// have sums which differ by at least one term that stands alone: the sums are equal with probability 2^-128,
/// whatever log somebody puts together of records that were sealed once. No birthday and no lattice helps without
/// sight of the terms (Clarke et al. 2003 prove it for MSet-Add-Hash under a secret key).
class SetDigest {
 public:
  SetDigest() = default;
  explicit SetDigest(unsigned __int128 sum) : sum_(sum) {}

  void add(const UserKey& key, const Entry& entry) noexcept { sum_ += key.term(entry); }
  /// What the changes of a batch make of it.
  void change(const UserKey& key, const Changes& changes) noexcept {
    if (changes.emptied()) sum_ = 0;
    for (const Change& change : changes.all()) {
      if (change.before.count != 0) sum_ -= key.term({change.entry.user, change.entry.number, change.before});
      sum_ += key.term(change.entry);
    }
  }

  [[nodiscard]] unsigned __int128 sum() const noexcept { return sum_; }
  friend bool operator==(const SetDigest&, const SetDigest&) = default;

 private:
  unsigned __int128 sum_ = 0;
};

/// Calls `visit(entry)` for every entry of a table.
template <class Visit>
void visit_all(const Standings& table, const Visit& visit) {
  for (unsigned part = 0; part < Standings::parts; ++part) table.visit_part(part, visit);
}

/// Of a whole table.
[[nodiscard]] inline SetDigest digest_of(const UserKey& key, const Standings& table) {
  SetDigest digest;
  visit_all(table, [&](const Entry& entry) { digest.add(key, entry); });
  return digest;
}

}  // namespace nustream::users
