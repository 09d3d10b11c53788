#include "users/sealed_key.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "error.h"
#include "secrets/fields.h"
#include "secrets/hex.h"
#include "secrets/random.h"
#include "secrets/seal.h"
#include "users/aead.h"

namespace nustream::users {
namespace {

constexpr std::string_view key_magic{"NUUSRKY\0", 8};
constexpr std::uint32_t key_format = 1;
using Nonce = std::array<std::uint8_t, nonce_bytes>;

Failure unusable_key(const std::string& what) {
  return {Exit::data, "the key of the users " + what +
                          "; restore it from a copy: under another key every user would count again"};
}

std::string header_of(const secrets::Keyring& keys, std::string_view stream) {
  std::string header(key_magic);
  secrets::append_integer(key_format, header);
  secrets::append_integer(static_cast<std::uint32_t>(keys.is_private() ? 1 : 0), header);
  secrets::append_bytes(keys.fingerprint(), header);
  secrets::append_text(stream, header);
  return header;
}

/// Throws where the header is not the one that is expected, by what differs.
void check_header(const secrets::Keyring& keys, std::string_view stream, secrets::FieldReader& fields) {
  if (fields.bytes(key_magic.size()) != key_magic) throw unusable_key("is none");
  if (const auto found = fields.integer<std::uint32_t>(); found != key_format) {
    throw unusable_key("has format " + std::to_string(found) + ", this version reads format " +
                       std::to_string(key_format));
  }
  const bool is_private = fields.integer<std::uint32_t>() == 1;
  secrets::Fingerprint fingerprint{};
  fields.bytes(fingerprint);
  if (fields.text() != stream) throw unusable_key("is of another stream");
  if (is_private != keys.is_private()) throw unusable_key("is private where this run is not, or the other way round");
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
  std::string plain(key.bytes().begin(), key.bytes().end());
  sealed += sealed_text(keys.sealing_key(), nonce, sealed, std::move(plain));
  return sealed;
}

UserKey open_user_key(const secrets::Keyring& keys, std::string_view stream, std::string_view sealed) {
  secrets::FieldReader fields(sealed, unusable_key("is cut").what());
  check_header(keys, stream, fields);
  Nonce nonce{};
  fields.bytes(nonce);
  const std::string_view hidden = fields.rest();
  const std::string_view associated = sealed.substr(0, sealed.size() - hidden.size());
  noise::KeyBytes bytes{};
  auto plain = opened_text(keys.sealing_key(), nonce, associated, hidden);
  if (!plain || plain->size() != bytes.size()) throw unusable_key("is damaged");
  std::ranges::copy(*plain, bytes.begin());
  secrets::wipe_text(*plain);
  UserKey key(bytes);
  noise::wipe(bytes);
  return key;
}

}  // namespace nustream::users
