#include "serve/bearer_token.h"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <string>

#include "error.h"
#include "nustream/base/error.h"
#include "secrets/descriptor.h"
#include "secrets/sodium.h"

namespace nustream::serve {
namespace {

constexpr std::size_t token_bytes_max = 1024;
constexpr const char* allowed_token = "16 to 1024 letters, digits or any of -._~+/=";

/// RFC 6750 §2.1, b64token.
bool is_token(std::string_view text) {
  constexpr std::string_view characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/=";
  return text.size() >= 16 && text.size() <= token_bytes_max &&
         text.find_first_not_of(characters) == std::string_view::npos;
}

std::array<std::uint8_t, 32> hash_of(std::string_view text) noexcept {
  std::array<std::uint8_t, 32> hash{};
  crypto_generichash(hash.data(), hash.size(), reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                     nullptr, 0);
  return hash;
}

/// A descriptor and what was read through it, which is wiped at the end of the scope.
struct OpenToken {
  secrets::Descriptor descriptor;
  std::array<char, token_bytes_max + 2> text{};  // a line end, and one byte that would be too many

  explicit OpenToken(const std::filesystem::path& path) : descriptor(path, O_RDONLY | O_NONBLOCK) {}
  ~OpenToken() { sodium_memzero(text.data(), text.size()); }
  OpenToken(const OpenToken&) = delete;
  OpenToken& operator=(const OpenToken&) = delete;
};

Failure refused(const std::filesystem::path& path, const std::string& reason, const std::string& advice) {
  return {Exit::permission, "token file " + path.string() + " " + reason + "; " + advice};
}

void check_private(int descriptor, const std::filesystem::path& path) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    throw system_failure(Exit::permission, "look at token file", path, errno, "check the path");
  }
  if (!S_ISREG(status.st_mode)) throw refused(path, "is not a regular file", "name a file with one token");
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    throw refused(path, "is open to group or others", "run chmod 600 on it, and change it if others read it");
  }
  if (status.st_uid != ::geteuid() && status.st_uid != 0) {
    throw refused(path, "belongs to another user", "give it to the user who runs this");
  }
}

/// The bytes read, at most what `out` holds.
std::string_view read_up_to(int descriptor, std::span<char> out, const std::filesystem::path& path) {
  std::size_t size = 0;
  while (size < out.size()) {
    const ssize_t got = ::read(descriptor, out.data() + size, out.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_failure(Exit::permission, "read token file", path, errno, "check the disk");
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  return {out.data(), size};
}

}  // namespace

BearerToken::BearerToken(std::string_view token) : hash_{} {
  if (!is_token(token)) throw InvalidParameter("token", "(not shown)", allowed_token);
  secrets::prepare_sodium();
  hash_ = hash_of(token);
}

bool BearerToken::matches(std::string_view presented) const noexcept {
  const auto hash = hash_of(presented);
  return sodium_memcmp(hash.data(), hash_.data(), hash.size()) == 0;
}

BearerToken load_bearer_token(const std::filesystem::path& path) {
  OpenToken file(path);
  if (!file.descriptor.valid()) {
    throw system_failure(Exit::permission, "open token file", path, errno, "check path and owner");
  }
  check_private(file.descriptor.get(), path);
  std::string_view text = read_up_to(file.descriptor.get(), file.text, path);
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (!is_token(text)) throw refused(path, "does not hold one token", std::string("write ") + allowed_token);
  return BearerToken(text);
}

}  // namespace nustream::serve
