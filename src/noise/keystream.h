// Uniform words that can be read at any place within a block; private to the noise room.
#pragma once

#include <openssl/types.h>

#include <cstdint>
#include <memory>
#include <span>

#include "nustream/noise/source.h"

namespace nustream::noise {

/// AES-256 in counter mode under one cipher key at a time. Word i of a key is bytes 8i … 8i + 7 of the keystream that
/// begins at counter 0, read as little-endian. The counter is a 128-bit big-endian number of 16-byte blocks.
///
/// Source: NIST SP 800-38A, section 6.5.
class Keystream {
 public:
  Keystream();

  void set_key(const KeyBytes& cipher_key);
  /// Writes words [first, first + words.size()) of the key; `first` is even. Going on where the last call ended costs
  /// nothing.
  void fill(std::uint64_t first, std::span<std::uint64_t> words);

 private:
  struct FreeContext {
    void operator()(EVP_CIPHER_CTX* context) const noexcept;
  };

  void seek(std::uint64_t word);

  std::unique_ptr<EVP_CIPHER_CTX, FreeContext> context_;
  std::uint64_t position_ = 0;  // the word that the context gives next
};

}  // namespace nustream::noise
