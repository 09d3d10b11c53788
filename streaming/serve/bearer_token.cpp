// Reads, makes and compares bearer tokens. Owner and mode of the file are judged by secrets::SecretFile, which also
// wipes what was read. Only a hash of the token is kept.
#include "serve/bearer_token.h"

#include <sodium.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "error.h"
#include "located.h"
#include "nustream/base/error.h"
#include "nustream/noise/source.h"
#include "secrets/hex.h"
#include "secrets/random.h"
#include "secrets/seal.h"
#include "secrets/secret_file.h"
#include "secrets/sodium.h"

namespace nustream::serve {
namespace {

constexpr std::size_t token_bytes_max = 1024;
constexpr const char* allowed_token = "16 to 1024 letters, digits or any of -._~+/=";

/// Whether the text is a b64token of RFC 6750 §2.1, of an allowed length.
bool is_token(std::string_view text) {
  constexpr std::string_view characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/=";
  return text.size() >= 16 && text.size() <= token_bytes_max &&
         text.find_first_not_of(characters) == std::string_view::npos;
}

/// BLAKE2b-256. Hashes all have one length, so that comparing two of them does not even tell how long the token is.
std::array<std::uint8_t, 32> hash_of(std::string_view text) noexcept {
  std::array<std::uint8_t, 32> hash{};
  crypto_generichash(hash.data(), hash.size(), reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                     nullptr, 0);
  return hash;
}

const secrets::SecretFile::Words token_words{"token file", "check path and owner",
                                             "run chmod 600 on it, and change it if others read it"};

}  // namespace

BearerToken::BearerToken(std::string_view token) : hash_{} {
  // The message never holds the value, since messages go to logs.
  if (!is_token(token)) throw InvalidParameter("token", "(not shown)", allowed_token);
  secrets::prepare_sodium();
  hash_ = hash_of(token);
}

bool BearerToken::matches(std::string_view presented) const noexcept {
  // Of what was presented, however long it is, only the hash is compared.
  return secrets::is_same(hash_of(presented), hash_);
}

BearerToken load_bearer_token(const std::filesystem::path& path) {
  const secrets::SecretFile file(path, token_bytes_max + 1, token_words);  // one byte more for a line end
  // One line, with or without its end, as editors and echo write it.
  std::string_view text = file.text();
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (!is_token(text)) {
    throw Failure(Exit::permission,
                  "token file " + path.string() + " does not hold one token; write " + allowed_token);
  }
  return BearerToken(text);
}

namespace {

constexpr const char* the_operators = "the operator's token file";
constexpr const char* elsewhere =
    "set serve.operator_token_file to a file that can be made, or to \"none\" for a loopback listener that asks "
    "nobody";

/// Where the token of the operator's listener is; empty where none is asked for.
std::filesystem::path operator_token_path(const config::Serve& settings, const std::string& stream,
                                          const std::filesystem::path& beside) {
  if (settings.operator_address.empty() || settings.operator_token_file == no_token) return {};
  // Such as sales.operator_token for a stream "sales".
  if (settings.operator_token_file.empty()) return beside / (stream + ".operator_token");
  return settings.operator_token_file;
}

/// Makes the file of a new token; returns false where the file is there already.
bool make_token(const std::filesystem::path& path) {
  std::array<std::uint8_t, 32> bytes;
  secrets::fill_random(bytes);
  // A newline at the end, so that the file can be shown and edited; load_bearer_token() takes it away.
  std::string digits = secrets::to_hex(bytes) + '\n';
  const secrets::WipeAtEnd wiped(digits);
  noise::wipe(bytes);
  return secrets::create_private_file(path, {reinterpret_cast<const std::uint8_t*>(digits.data()), digits.size()},
                                      the_operators, elsewhere);
}

}  // namespace

SettledToken settle_operator_token(const config::Serve& settings, const std::string& stream,
                                   const std::filesystem::path& beside) {
  const std::filesystem::path path = operator_token_path(settings, stream, beside);
  if (path.empty()) return {};
  return {path, make_token(path)};
}

void require_tokens(const config::Serve& settings, const std::string& stream, const std::filesystem::path& beside) {
  if (!settings.public_address.empty() && !settings.public_token_file.empty() &&
      settings.public_token_file != no_token) {
    located("serve.public_token_file", [&] { static_cast<void>(load_bearer_token(settings.public_token_file)); });
  }
  const std::filesystem::path path = operator_token_path(settings, stream, beside);
  if (path.empty()) return;
  // A link that leads nowhere is a name that is taken, too.
  std::error_code unknown;
  if (std::filesystem::symlink_status(path, unknown).type() != std::filesystem::file_type::not_found) {
    located("serve.operator_token_file", [&] { static_cast<void>(load_bearer_token(path)); });
    return;
  }
  const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return;
  throw system_failure(Exit::permission, std::string("make ") + the_operators, path.string(), errno, elsewhere);
}

}  // namespace nustream::serve
