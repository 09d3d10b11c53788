// The keys that a run holds: derived from a key file, or from an insecure seed (docs/formats/key.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "nustream/noise/source.h"
#include "secrets/signature.h"

namespace nustream::secrets {

/// Says which key file, and nothing else about it.
using Fingerprint = std::array<std::uint8_t, 16>;

/// Sealing and ledger keys in locked memory, wiped with the last copy. Copies share them; immutable, any thread.
class Keyring {
 public:
  /// Keys of a key file's bytes (key_file.h). The caller wipes `master`.
  static Keyring from_master(const noise::KeyBytes& master);
  /// Keys that anybody can compute: for tests and demonstrations; everything made under them is not private.
  static Keyring insecure(std::uint64_t seed);

  [[nodiscard]] std::span<const std::uint8_t, 32> sealing_key() const noexcept;
  [[nodiscard]] std::span<const std::uint8_t, 32> ledger_key() const noexcept;
  /// Authenticates the witness of a state folder.
  [[nodiscard]] std::span<const std::uint8_t, 32> witness_key() const noexcept;
  /// Of ledger lines and releases, for somebody who has no key (journal/release_chain.h).
  [[nodiscard]] Signature sign(Signing purpose, std::string_view text) const;
  /// What checks them: public, and to be published where it cannot be exchanged along with them.
  [[nodiscard]] PublicKey public_key() const noexcept;
  [[nodiscard]] const Fingerprint& fingerprint() const noexcept { return fingerprint_; }
  /// False for an insecure seed, and for a run whose answers stand beside answers that are not private.
  [[nodiscard]] bool is_private() const noexcept { return is_private_; }
  /// The same keys for such a run: its noise is as good as any, but nothing of it may ever pass for private.
  [[nodiscard]] Keyring beside_nonprivate() const {
    Keyring same = *this;
    same.is_private_ = false;
    return same;
  }

  /// The noise key of a new epoch of `stream`: fresh random bits for a key file, never the same twice; for an
  /// insecure seed a function of seed and stream. The caller wipes it.
  [[nodiscard]] noise::KeyBytes epoch_key(std::string_view stream) const;
  /// How the noise of an epoch goes on: with the kernel's random bits where a segment begins, for a key file; without
  /// any segments for an insecure seed, so that equal input gives equal bytes. `resumed`: from a state that was kept.
  [[nodiscard]] noise::Healing healing(bool resumed) const;

 private:
  struct Keys;
  Keyring(const noise::KeyBytes& master, bool is_seeded);

  std::shared_ptr<const Keys> keys_;
  Fingerprint fingerprint_{};
  bool is_private_;
  bool is_seeded_;  ///< epochs follow from the seed
};

}  // namespace nustream::secrets
