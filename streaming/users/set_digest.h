// A digest of all entries of the table of users, which is updated with each change of an entry. A lane's state holds
// it (docs/formats/users.md).
#pragma once

#include <span>

#include "nustream/users/changes.h"
#include "users/user_key.h"

namespace nustream::users {

/// Σ PRF(entry) mod 2^128 over the entries of the table, in any order; 0 for an empty table.
///
/// A sum is enough for this reason. The PRF is under the stream's key, so that its terms are like random numbers to
/// everybody who lacks the key, and neither terms nor digests are ever shown. Each user has one entry. So the sums of
/// two different tables differ by at least one term that does not cancel, and are equal with probability 2^-128,
/// whatever store an attacker puts together from records that were sealed once. Attacks by birthdays or lattices need
/// to see the terms (Clarke et al. 2003 prove it for MSet-Add-Hash under a secret key).
class SetDigest {
 public:
  SetDigest() = default;
  explicit SetDigest(unsigned __int128 sum) : sum_(sum) {}

  void add(const UserKey& key, const Entry& entry) noexcept { sum_ += key.term(entry); }
  /// Updates the digest by the changes of a batch.
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

/// The digest of a whole table.
[[nodiscard]] inline SetDigest digest_of(const UserKey& key, const Standings& table) {
  SetDigest digest;
  visit_all(table, [&](const Entry& entry) { digest.add(key, entry); });
  return digest;
}

}  // namespace nustream::users
