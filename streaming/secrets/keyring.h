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

/// Identifies a key file, and says nothing else about the key.
using Fingerprint = std::array<std::uint8_t, 16>;

/// The keys for sealing, the ledger and the witness, in locked memory that is wiped with the last copy. Copies share
/// the keys, which never change; any thread may use them.
class Keyring {
 public:
  /// Derives the keys from a key file's bytes (key_file.h). The caller wipes `master`.
  static Keyring from_master(const noise::KeyBytes& master);
  /// Derives keys that anybody can compute, for tests and demonstrations. Nothing that is made with them is private.
  static Keyring insecure(std::uint64_t seed);

  [[nodiscard]] std::span<const std::uint8_t, 32> sealing_key() const noexcept;
  [[nodiscard]] std::span<const std::uint8_t, 32> ledger_key() const noexcept;
  /// The key that authenticates the witness of a state folder.
  [[nodiscard]] std::span<const std::uint8_t, 32> witness_key() const noexcept;
  /// Signs a ledger line or a release, so that somebody without any key can check it (journal/release_chain.h).
  [[nodiscard]] Signature sign(Signing purpose, std::string_view text) const;
  /// The public key that checks the signatures. It should be published at a place where nobody can exchange it along
  /// with what it signs.
  [[nodiscard]] PublicKey public_key() const noexcept;
  [[nodiscard]] const Fingerprint& fingerprint() const noexcept { return fingerprint_; }
  /// False for an insecure seed, and for a run whose answers stand beside answers that are not private.
  [[nodiscard]] bool is_private() const noexcept { return is_private_; }
  /// The same keys for a run whose answers stand beside answers that are not private. The run's noise is as good as
  /// any, but nothing of the run may ever pass for private.
  [[nodiscard]] Keyring beside_nonprivate() const {
    Keyring same = *this;
    same.is_private_ = false;
    return same;
  }

  /// The noise key of a new epoch of `stream`. For a key file it is fresh random bits, never the same twice; for an
  /// insecure seed it is a function of seed and stream. The caller wipes it.
  [[nodiscard]] noise::KeyBytes epoch_key(std::string_view stream) const;
  /// How the noise of an epoch is renewed. For a key file, the kernel's random bits enter wherever a segment begins;
  /// `resumed` says that the epoch goes on from a state that was kept. For an insecure seed there are no segments, so
  /// that equal input gives equal bytes.
  [[nodiscard]] noise::Healing healing(bool resumed) const;

 private:
  struct Keys;
  Keyring(const noise::KeyBytes& master, bool is_seeded);

  std::shared_ptr<const Keys> keys_;
  Fingerprint fingerprint_{};
  bool is_private_;
  bool is_seeded_;  ///< noise keys of epochs follow from the seed
};

}  // namespace nustream::secrets
