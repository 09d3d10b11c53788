// Derives the keys of a stream's users, and hashes, masks and digests under them. Derivation is keyed BLAKE2b, and
// the hashes are SipHash-2-4 with 128 bits, both by libsodium (docs/formats/users.md, "The users' key").
#include "users/user_key.h"

#include <bit>
#include <cstddef>
#include <cstring>
#include <memory_resource>
#include <string>

#include <zlib.h>

#include "nustream/base/error.h"
#include "secrets/locked_memory.h"
#include "secrets/random.h"
#include "secrets/sodium.h"
#include "users/entry_bytes.h"

namespace nustream::users {
namespace {

using SipKey = std::array<std::uint8_t, crypto_shorthash_siphashx24_KEYBYTES>;
using SipHash = std::array<std::uint8_t, crypto_shorthash_siphashx24_BYTES>;

/// libsodium's short hash with 16 bytes of output, which succeeds for every input.
SipHash sip_hash(std::span<const std::uint8_t> bytes, const SipKey& key) noexcept {
  SipHash hash{};
  static_cast<void>(crypto_shorthash_siphashx24(hash.data(), bytes.data(), bytes.size(), key.data()));
  return hash;
}

/// Eight bytes of the hash from `at` on, little-endian, so that the value is the same on every machine.
std::uint64_t word_at(const SipHash& hash, std::size_t at) noexcept {
  std::uint64_t word = 0;
  for (std::size_t byte = 8; byte-- > 0;) word = word << 8 | hash[at + byte];
  return word;
}

/// Fills `key` with BLAKE2b of the label under `from`. Output of another length is another hash, not a prefix of it.
void derive(const noise::KeyBytes& from, std::string_view label, std::span<std::uint8_t> key) {
  const auto* const message = reinterpret_cast<const unsigned char*>(label.data());
  const int status = crypto_generichash(key.data(), key.size(), message, label.size(), from.data(), from.size());
  NUSTREAM_REQUIRE(status == 0, "keyed BLAKE2b");
}

// Never destroyed, so that it outlives every key, in whatever order static objects are destroyed.
secrets::LockedMemory& key_memory() {
  static auto* const memory = new secrets::LockedMemory;
  return *memory;
}

}  // namespace

/// The key and those derived from it. One object in locked memory is shared by all copies of a UserKey.
struct UserKey::Keys {
  noise::KeyBytes bytes{};
  noise::KeyBytes log{};
  noise::KeyBytes table{};
  SipKey identifiers{};
  SipKey numbers{};
  SipKey entries{};
};

UserKey UserKey::draw() {
  noise::KeyBytes bytes = secrets::random_key();
  UserKey key(bytes);
  // The key in locked memory is now the only copy.
  noise::wipe(bytes);
  return key;
}

UserKey::UserKey(const noise::KeyBytes& bytes) {
  secrets::prepare_sodium();
  // The object and its count of owners are one block of locked memory.
  const auto keys = std::allocate_shared<Keys>(std::pmr::polymorphic_allocator<Keys>(&key_memory()));
  keys->bytes = bytes;
  // Each purpose has a key of its own, so that what one of them shows says nothing about another.
  derive(bytes, "nustream users v1 identifiers", keys->identifiers);
  derive(bytes, "nustream users v1 numbers", keys->numbers);
  derive(bytes, "nustream users v1 entries", keys->entries);
  derive(bytes, "nustream users v1 log", keys->log);
  derive(bytes, "nustream users v1 table", keys->table);
  derive(bytes, "nustream users v1 fingerprint", fingerprint_);
  keys_ = keys;
}

UserHash UserKey::hash(std::string_view identifier) const noexcept {
  const SipHash hash =
      sip_hash({reinterpret_cast<const std::uint8_t*>(identifier.data()), identifier.size()}, keys_->identifiers);
  return {word_at(hash, 8), word_at(hash, 0)};
}

std::uint32_t UserKey::masked(const UserHash& user, std::uint32_t number) const noexcept {
  EntryBytes bytes{};
  put_entry({user, 0, {}}, bytes);
  // Only the 16 bytes of the hash are hashed, with which an entry begins: the mask must not depend on the standing.
  const SipHash mask = sip_hash(std::span(bytes).first(user_bytes), keys_->numbers);
  // Exclusive-or is its own inverse, so that the same function hides a number and tells it again.
  return number ^ static_cast<std::uint32_t>(word_at(mask, 0));
}

unsigned __int128 UserKey::term(const Entry& entry) const noexcept {
  EntryBytes bytes{};
  put_entry(entry, bytes);
  const SipHash hash = sip_hash(bytes, keys_->entries);
  return static_cast<unsigned __int128>(word_at(hash, 8)) << 64 | word_at(hash, 0);
}

std::span<const std::uint8_t, 32> UserKey::log_key() const noexcept {
  return keys_->log;
}

std::span<const std::uint8_t, 32> UserKey::table_key() const noexcept {
  return keys_->table;
}

std::span<const std::uint8_t, 32> UserKey::bytes() const noexcept {
  return keys_->bytes;
}

Changes::Mask mask_under(const UserKey& key) {
  return [key](const UserHash& user, std::uint32_t number) { return key.masked(user, number); };
}

std::uint32_t partition_number(Partitioner partitioner, std::string_view identifier, const UserHash& user) noexcept {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(identifier.data());
  switch (partitioner) {
    case Partitioner::murmur2:
      return murmur2({bytes, identifier.size()});
    case Partitioner::crc32:
      return static_cast<std::uint32_t>(crc32_z(0, bytes, identifier.size()));
    // The hash is keyed already, so that its own bits serve and the identifier is not read a second time.
    case Partitioner::user_hash:
      break;
  }
  return number_of(user);
}

UserKey new_user_key(const secrets::Keyring& keys, std::string_view stream) {
  // epoch_key() draws fresh bytes. Under an insecure seed the label makes this another key than
  // the epochs' noise keys.
  noise::KeyBytes bytes = keys.epoch_key("users of " + std::string(stream));
  UserKey key(bytes);
  noise::wipe(bytes);
  return key;
}

}  // namespace nustream::users
