// Derives keys by HMAC; private to the noise room.
#pragma once

#include <openssl/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "nustream/noise/source.h"

namespace nustream::noise {

/// HKDF with SHA-256. It keeps one context, so that a derivation allocates nothing. A failure of the library ends the
/// process, because there must be no noise without its key.
///
/// Source: RFC 5869.
class Hkdf {
 public:
  Hkdf();

  /// key = HMAC(salt, input), the PRK of the RFC; an empty salt stands for 32 zero bytes.
  void extract(std::span<const std::uint8_t> salt, std::span<const std::uint8_t> input, KeyBytes& key);
  /// output = T(1) ‖ T(2) ‖ …, where T(i) = HMAC(key, T(i−1) ‖ info ‖ i), cut to the size of `output`: at most 255·32
  /// bytes.
  void expand(const KeyBytes& key, std::span<const std::uint8_t> info, std::span<std::uint8_t> output);

 private:
  struct FreeContext {
    void operator()(EVP_MAC_CTX* context) const noexcept;
  };

  void begin(std::span<const std::uint8_t> key);
  void append(std::span<const std::uint8_t> bytes);
  void finish(KeyBytes& digest);

  std::unique_ptr<EVP_MAC_CTX, FreeContext> context_;
};

}  // namespace nustream::noise
