// Signatures that a third party can check without any secret: Ed25519 (RFC 8032), by libsodium. Equal text under
// equal keys gives equal bytes, so that a run that was killed and resumed releases what an unbroken one does.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "nustream/noise/source.h"

namespace nustream::secrets {

/// Whoever has it can check signatures, and make none.
using PublicKey = std::array<std::uint8_t, 32>;
using Signature = std::array<std::uint8_t, 64>;

/// Ed25519's secret key: its 32 bytes of seed, then its public key.
using SigningKey = std::array<std::uint8_t, 64>;

/// What a text is signed as. A signature of one purpose is none of another, whatever the text says: otherwise any
/// public line could be passed off as the hand-over of a key.
enum class Signing : std::uint8_t { release, ledger_line, hand_over };
/// The bytes that are signed: "nustream release\n", "nustream ledger\n" or "nustream hand-over\n", then the text.
[[nodiscard]] std::string to_sign(Signing purpose, std::string_view text);

/// Fills `secret`, where the caller keeps it, from 32 bytes of which nobody knows anything.
void derive_signing_key(const noise::KeyBytes& seed, SigningKey& secret);
[[nodiscard]] PublicKey public_key_of(const SigningKey& secret) noexcept;
/// About 25 µs.
[[nodiscard]] Signature sign(std::string_view text, const SigningKey& secret);
/// True where whoever holds the secret of `key` signed exactly this text.
[[nodiscard]] bool is_signed(std::string_view text, const Signature& signature, const PublicKey& key);

}  // namespace nustream::secrets
