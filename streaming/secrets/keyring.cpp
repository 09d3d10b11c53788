// Derives all keys of a run from 32 master bytes by keyed BLAKE2b, by the labels of docs/formats/key.md, and hands
// out what is made from them. The keys lie in locked memory; only the fingerprint is an ordinary member, since it is
// public.
#include "secrets/keyring.h"

#include <algorithm>
#include <memory_resource>

#include "secrets/locked_memory.h"
#include "secrets/random.h"
#include "secrets/sodium.h"

namespace nustream::secrets {

/// The secret part of a keyring, which its copies share. LockedMemory wipes it when the last of them is gone.
struct Keyring::Keys {
  noise::KeyBytes sealing{};
  noise::KeyBytes ledger{};
  noise::KeyBytes witness{};
  SigningKey signing{};
  noise::KeyBytes insecure_epochs{};  ///< all zero for a key file, whose epochs draw fresh bits instead
};

namespace {

// Never destroyed, so that it outlives every keyring in whatever order static objects end.
LockedMemory& keyring_memory() {
  static auto* const memory = new LockedMemory;
  return *memory;
}

}  // namespace

Keyring::Keyring(const noise::KeyBytes& master, bool is_seeded) : is_private_(!is_seeded), is_seeded_(is_seeded) {
  const auto keys = std::allocate_shared<Keys>(std::pmr::polymorphic_allocator<Keys>(&keyring_memory()));
  // Each key is derived under a label of its own, so that one of them tells nothing about another.
  keyed_hash(master, "nustream v1 sealing", keys->sealing);
  keyed_hash(master, "nustream v1 ledger", keys->ledger);
  keyed_hash(master, "nustream v1 witness", keys->witness);
  // The seed is as secret as the key that is made of it, and this copy lies outside the locked memory.
  noise::KeyBytes seed{};
  keyed_hash(master, "nustream v1 signing", seed);
  derive_signing_key(seed, keys->signing);
  noise::wipe(seed);
  keyed_hash(master, "nustream v1 fingerprint", fingerprint_);
  if (is_seeded) keys->insecure_epochs = master;
  keys_ = keys;
}

Keyring Keyring::from_master(const noise::KeyBytes& master) {
  return {master, false};
}

Keyring Keyring::insecure(std::uint64_t seed) {
  // Eight little-endian bytes, so that one seed gives the same keys on every machine. Nothing here is wiped: anybody
  // can compute it.
  std::string message = "nustream insecure seed";
  for (unsigned byte = 0; byte < 8; ++byte) message += static_cast<char>((seed >> (8 * byte)) & 0xff);
  noise::KeyBytes master{};
  keyed_hash({}, message, master);
  return {master, true};
}

// The keys are handed out as views of the locked memory, so that no copy of them lies elsewhere.
std::span<const std::uint8_t, 32> Keyring::sealing_key() const noexcept {
  return keys_->sealing;
}

std::span<const std::uint8_t, 32> Keyring::ledger_key() const noexcept {
  return keys_->ledger;
}

std::span<const std::uint8_t, 32> Keyring::witness_key() const noexcept {
  return keys_->witness;
}

Signature Keyring::sign(Signing purpose, std::string_view text) const {
  return secrets::sign(to_sign(purpose, text), keys_->signing);
}

PublicKey Keyring::public_key() const noexcept {
  return public_key_of(keys_->signing);
}

noise::KeyBytes Keyring::epoch_key(std::string_view stream) const {
  noise::KeyBytes key{};
  if (!is_seeded_) return random_key();
  keyed_hash(keys_->insecure_epochs, "nustream insecure epoch" + std::string(stream), key);
  return key;
}

noise::Healing Keyring::healing(bool resumed) const {
  if (is_seeded_) return {};
  return {fill_random, resumed};
}

}  // namespace nustream::secrets
