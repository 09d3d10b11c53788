// Signatures that a third party can check without any secret: Ed25519 (RFC 8032), by libsodium. Equal text under
// equal keys gives equal bytes, so that a run that was killed and resumed releases the same bytes as an unbroken one.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "nustream/noise/source.h"

namespace nustream::secrets {

/// The key that checks signatures but cannot make any.
using PublicKey = std::array<std::uint8_t, 32>;
using Signature = std::array<std::uint8_t, 64>;

/// Ed25519's secret key: 32 bytes of seed, and then the public key.
using SigningKey = std::array<std::uint8_t, 64>;

/// The purpose that a text is signed for. A signature for one purpose is never valid for another, whatever the text
/// says. Otherwise any public line could be passed off as the hand-over of a key.
enum class Signing : std::uint8_t { release, ledger_line, hand_over };
/// The bytes that are signed: "nustream release\n", "nustream ledger\n" or "nustream hand-over\n", then the text.
[[nodiscard]] std::string to_sign(Signing purpose, std::string_view text);

/// Fills `secret`, in memory of the caller, from 32 bytes that nobody else knows.
void derive_signing_key(const noise::KeyBytes& seed, SigningKey& secret);
[[nodiscard]] PublicKey public_key_of(const SigningKey& secret) noexcept;
/// Signs a text, which takes about 25 µs.
[[nodiscard]] Signature sign(std::string_view text, const SigningKey& secret);
/// Whether exactly this text was signed with the secret key that belongs to `key`.
[[nodiscard]] bool is_signed(std::string_view text, const Signature& signature, const PublicKey& key);

}  // namespace nustream::secrets
