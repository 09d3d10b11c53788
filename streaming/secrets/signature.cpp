// Ed25519 by libsodium (RFC 8032), and the prefix that says what a text is signed for. Ed25519 draws no random bits
// when it signs, so that equal texts have equal signatures.
#include "secrets/signature.h"

#include <algorithm>

#include "secrets/sodium.h"

namespace nustream::secrets {
namespace {

// libsodium takes bare pointers. These lines make sure that the arrays behind them have the sizes that it expects.
static_assert(std::tuple_size_v<PublicKey> == crypto_sign_PUBLICKEYBYTES);
static_assert(std::tuple_size_v<Signature> == crypto_sign_BYTES);
static_assert(std::tuple_size_v<SigningKey> == crypto_sign_SECRETKEYBYTES);
static_assert(std::tuple_size_v<noise::KeyBytes> == crypto_sign_SEEDBYTES);

const unsigned char* bytes_of(std::string_view text) noexcept {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string to_sign(Signing purpose, std::string_view text) {
  // The purpose is part of what is signed. It ends with a line feed, so that no purpose is the beginning of another.
  std::string bytes = "nustream ";
  switch (purpose) {
    case Signing::release:
      bytes += "release\n";
      break;
    case Signing::ledger_line:
      bytes += "ledger\n";
      break;
    case Signing::hand_over:
      bytes += "hand-over\n";
      break;
  }
  return bytes.append(text);
}

void derive_signing_key(const noise::KeyBytes& seed, SigningKey& secret) {
  prepare_sodium();
  // libsodium also puts the public key behind the seed in `secret`, from where public_key_of() takes it.
  PublicKey ignored{};
  NUSTREAM_REQUIRE(crypto_sign_seed_keypair(ignored.data(), secret.data(), seed.data()) == 0, "an Ed25519 key pair");
}

PublicKey public_key_of(const SigningKey& secret) noexcept {
  PublicKey key{};
  std::copy(secret.end() - static_cast<std::ptrdiff_t>(key.size()), secret.end(), key.begin());
  return key;
}

Signature sign(std::string_view text, const SigningKey& secret) {
  prepare_sodium();
  Signature signature{};
  const int status = crypto_sign_detached(signature.data(), nullptr, bytes_of(text), text.size(), secret.data());
  NUSTREAM_REQUIRE(status == 0, "an Ed25519 signature");
  return signature;
}

bool is_signed(std::string_view text, const Signature& signature, const PublicKey& key) {
  prepare_sodium();
  // libsodium refuses public keys of small order, under which signatures of any text would fit.
  return crypto_sign_verify_detached(signature.data(), bytes_of(text), text.size(), key.data()) == 0;
}

}  // namespace nustream::secrets
