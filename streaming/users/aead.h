// XChaCha20-Poly1305-IETF over texts. The records of this room are sealed with it.
#pragma once

#include <sodium.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "nustream/base/error.h"

namespace nustream::users {

inline constexpr std::size_t nonce_bytes = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
inline constexpr std::size_t tag_bytes = crypto_aead_xchacha20poly1305_ietf_ABYTES;
using AeadKey = std::span<const std::uint8_t, crypto_aead_xchacha20poly1305_ietf_KEYBYTES>;
using AeadNonce = std::span<const std::uint8_t, nonce_bytes>;

[[nodiscard]] inline const unsigned char* readable(std::string_view text) noexcept {
  return reinterpret_cast<const unsigned char*>(text.data());
}
[[nodiscard]] inline unsigned char* writable(std::string& text) noexcept {
  return reinterpret_cast<unsigned char*>(text.data());
}

/// Encrypts `text` in place, so that no plain copy is left, and returns it with its tag behind it. Where `text` has
/// no room for the tag, it moves, and what it leaves is wiped.
[[nodiscard]] inline std::string sealed_text(AeadKey key, AeadNonce nonce, std::string_view associated,
                                             std::string&& text) {
  const std::size_t size = text.size();
  if (text.capacity() < size + tag_bytes) {
    std::string larger;
    larger.reserve(size + tag_bytes);
    larger = text;
    sodium_memzero(text.data(), text.size());
    text = std::move(larger);
  }
  text.resize(size + tag_bytes);
  const int status = crypto_aead_xchacha20poly1305_ietf_encrypt_detached(
      writable(text), writable(text) + size, nullptr, writable(text), size, readable(associated), associated.size(),
      nullptr, nonce.data(), key.data());
  NUSTREAM_REQUIRE(status == 0, "sealing a record of users");
  return std::move(text);
}

/// Returns the text that sealed_text() was given, or nothing where any bit of `sealed` or `associated` was changed.
/// The caller wipes the text.
[[nodiscard]] inline std::optional<std::string> opened_text(AeadKey key, AeadNonce nonce, std::string_view associated,
                                                            std::string_view sealed) {
  if (sealed.size() < tag_bytes) return std::nullopt;
  std::string text(sealed.size() - tag_bytes, '\0');
  const int status = crypto_aead_xchacha20poly1305_ietf_decrypt_detached(
      writable(text), nullptr, readable(sealed), text.size(), readable(sealed.substr(text.size())),
      readable(associated), associated.size(), nonce.data(), key.data());
  if (status != 0) return std::nullopt;
  return text;
}

}  // namespace nustream::users
