// The secret that a client of a listener shows.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace nustream::serve {

/// A bearer token (RFC 6750). Keeps its hash, not the token.
class BearerToken {
 public:
  /// Throws InvalidParameter unless `token` has 16 to 1024 letters, digits or "-._~+/=".
  explicit BearerToken(std::string_view token);

  /// Takes the same time whatever `presented` has in common with the token.
  [[nodiscard]] bool matches(std::string_view presented) const noexcept;

  /// Of two that this process holds itself; what somebody presents is for matches().
  friend bool operator==(const BearerToken&, const BearerToken&) = default;

 private:
  std::array<std::uint8_t, 32> hash_;  // BLAKE2b
};

/// Who may read from a listener.
struct Access {
  std::optional<BearerToken> token;  ///< none: whoever reaches it
  /// Only requests whose Host is an IP literal or "localhost". Without a token this is what keeps a web page that the
  /// operator happens to look at from reading a loopback listener under a name of its own (DNS rebinding).
  bool literal_hosts_only = false;
};

/// The token in the first line of a file. Failure(permission) where it is missing, not a regular file, open to group
/// or others, owned by somebody else than this process's user or root, or holds anything but a token.
[[nodiscard]] BearerToken load_bearer_token(const std::filesystem::path& path);

}  // namespace nustream::serve
