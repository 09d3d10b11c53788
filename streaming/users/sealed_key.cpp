#include "users/sealed_key.h"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "error.h"
#include "nustream/base/error.h"
#include "secrets/fields.h"
#include "secrets/hex.h"
#include "secrets/random.h"

namespace nustream::users {
namespace {

constexpr std::string_view magic{"NUUSRKY\0", 8};
constexpr std::uint32_t format = 1;
constexpr std::size_t tag_bytes = crypto_aead_xchacha20poly1305_ietf_ABYTES;
using Nonce = std::array<std::uint8_t, crypto_aead_xchacha20poly1305_ietf_NPUBBYTES>;

const unsigned char* readable(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Failure damaged(const std::string& what) {
  return {Exit::data, "the key of the users " + what +
                          "; restore it from a copy: under another key every user would count again"};
}

std::string header_of(const secrets::Keyring& keys, std::string_view stream) {
  std::string header(magic);
  secrets::append_integer(format, header);
  secrets::append_integer(static_cast<std::uint32_t>(keys.is_private() ? 1 : 0), header);
  secrets::append_bytes(keys.fingerprint(), header);
  secrets::append_text(stream, header);
  return header;
}

/// Throws where the header is not the one that is expected, by what differs.
void check_header(const secrets::Keyring& keys, std::string_view stream, secrets::FieldReader& fields) {
  if (fields.bytes(magic.size()) != magic) throw damaged("is none");
  if (const auto found = fields.integer<std::uint32_t>(); found != format) {
    throw damaged("has format " + std::to_string(found) + ", this version reads format " + std::to_string(format));
  }
  const bool is_private = fields.integer<std::uint32_t>() == 1;
  secrets::Fingerprint fingerprint{};
  fields.bytes(fingerprint);
  if (fields.text() != stream) throw damaged("is of another stream");
  if (is_private != keys.is_private()) throw damaged("is private where this run is not, or the other way round");
  if (fingerprint != keys.fingerprint()) {
    throw Failure(Exit::permission, "the key of the users was sealed with key " + secrets::to_hex(fingerprint) +
                                        ", this is key " + secrets::to_hex(keys.fingerprint()) +
                                        "; name the right one (state.key_file, or --key-file)");
  }
}

}  // namespace

UserKey new_user_key(const secrets::Keyring& keys, std::string_view stream) {
  noise::KeyBytes bytes = keys.epoch_key("users of " + std::string(stream));
  UserKey key(bytes);
  noise::wipe(bytes);
  return key;
}

std::string seal_user_key(const secrets::Keyring& keys, std::string_view stream, const UserKey& key) {
  std::string sealed = header_of(keys, stream);
  Nonce nonce{};
  secrets::fill_random(nonce);
  secrets::append_bytes(nonce, sealed);
  std::array<unsigned char, 32 + tag_bytes> hidden{};
  const int status = crypto_aead_xchacha20poly1305_ietf_encrypt(hidden.data(), nullptr, key.bytes().data(),
                                                                key.bytes().size(), readable(sealed), sealed.size(),
                                                                nullptr, nonce.data(), keys.sealing_key().data());
  NUSTREAM_REQUIRE(status == 0, "sealing the key of the users");
  secrets::append_bytes(hidden, sealed);
  return sealed;
}

UserKey open_user_key(const secrets::Keyring& keys, std::string_view stream, std::string_view sealed) {
  secrets::FieldReader fields(sealed, damaged("is cut").what());
  check_header(keys, stream, fields);
  Nonce nonce{};
  fields.bytes(nonce);
  const std::string_view hidden = fields.rest();
  const std::string_view associated = sealed.substr(0, sealed.size() - hidden.size());
  noise::KeyBytes bytes{};
  const bool is_whole = hidden.size() == bytes.size() + tag_bytes;
  const bool opens =
      is_whole && crypto_aead_xchacha20poly1305_ietf_decrypt(bytes.data(), nullptr, nullptr, readable(hidden),
                                                             hidden.size(), readable(associated), associated.size(),
                                                             nonce.data(), keys.sealing_key().data()) == 0;
  if (!opens) throw damaged("is damaged");
  UserKey key(bytes);
  noise::wipe(bytes);
  return key;
}

}  // namespace nustream::users
