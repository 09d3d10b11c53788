// An open-addressed hash table with linear probing. Senders choose ids, so their hash has a random key (SipHash):
// whoever does not know the key cannot choose ids that collide.
#include "local/id_set.h"

#include <sodium.h>

#include <bit>
#include <utility>

#include "secrets/random.h"

namespace nustream::local {
namespace {

constexpr std::size_t size_at_first = 1024;
static_assert(crypto_shorthash_KEYBYTES == 16);

}  // namespace

IdSet::IdSet() : table_(size_at_first) {
  secrets::fill_random(key_);
}

/// The place of the id, or the free place where it would go (linear probing).
std::size_t IdSet::place_of(const Id& id) const {
  std::array<std::uint8_t, crypto_shorthash_BYTES> hash{};
  crypto_shorthash(hash.data(), id.data(), id.size(), key_.data());
  std::size_t place = std::bit_cast<std::uint64_t>(hash) & (table_.size() - 1);
  while (table_[place] != free_ && table_[place] != id) place = (place + 1) & (table_.size() - 1);
  return place;
}

bool IdSet::insert(const Id& id) {
  // Free places hold the id of zeros, so that this id itself is remembered by a flag.
  if (id == free_) {
    size_ += has_zeros_ ? 0 : 1;
    return !std::exchange(has_zeros_, true);
  }
  const std::size_t place = place_of(id);
  if (table_[place] == id) return false;
  table_[place] = id;
  ++size_;
  // At most three quarters are taken, so that probing stays short and always meets a free place.
  if (4 * size_ > 3 * table_.size()) grow();
  return true;
}

void IdSet::grow() {
  // Twice the size keeps it a power of two, which place_of() needs; each id finds its place anew.
  std::vector<Id> before(2 * table_.size());
  std::swap(before, table_);
  for (const Id& id : before) {
    if (id != free_) table_[place_of(id)] = id;
  }
}

}  // namespace nustream::local
