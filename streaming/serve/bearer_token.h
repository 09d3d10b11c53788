// The secret that a client shows to a listener.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "config/serve.h"

namespace nustream::serve {

/// A bearer token (RFC 6750). It keeps the token's hash, not the token.
class BearerToken {
 public:
  /// Throws InvalidParameter unless `token` has 16 to 1024 letters, digits or characters of "-._~+/=".
  explicit BearerToken(std::string_view token);

  /// Whether a client presented the token. It takes the same time whatever `presented` has in common with the token.
  [[nodiscard]] bool matches(std::string_view presented) const noexcept;

  /// Compares two tokens that this process holds itself; what a client presents is for matches().
  friend bool operator==(const BearerToken&, const BearerToken&) = default;

 private:
  std::array<std::uint8_t, 32> hash_;  // BLAKE2b
};

/// Who may read from a listener.
struct Access {
  std::optional<BearerToken> token;  ///< empty: everybody who reaches the listener may read
  /// Answer only requests whose Host is an IP literal or "localhost". Without a token this keeps a web page that the
  /// operator happens to look at from reading a loopback listener under a name of its own (DNS rebinding).
  bool literal_hosts_only = false;
};

/// Reads the token in the first line of a file. Throws Failure(permission) where the file is missing, is not a
/// regular file, is open to group or others, belongs to somebody other than this process's user or root, or holds
/// anything but a token.
[[nodiscard]] BearerToken load_bearer_token(const std::filesystem::path& path);

/// The value of serve.operator_token_file for a listener that asks for no token.
inline constexpr const char* no_token = "none";

/// Throws what a service would throw of the token files of its listeners, before one begins: as load_bearer_token()
/// does, and Failure(permission) where the operator's token would have to be made in a folder that is not there or
/// not writable. It makes nothing. `beside` is as for settle_operator_token().
void require_tokens(const config::Serve& settings, const std::string& stream, const std::filesystem::path& beside);

/// A file with a bearer token, and whether it was made just now.
struct SettledToken {
  std::filesystem::path path;  ///< empty: no token is asked for
  bool is_new = false;
};

/// The token file of the operator's listener: the file that `settings` name, or else STREAM.operator_token in the
/// folder `beside`, which holds the key. The latter is made where it is missing, with mode 0600 and 32 random bytes
/// as hexadecimal digits. A token is needed because what the listener shows depends on data, and any user of this
/// machine can reach a loopback address.
///
/// The path is empty where there is no such listener, and where the settings say "none". Throws Failure(permission)
/// where the file cannot be made.
[[nodiscard]] SettledToken settle_operator_token(const config::Serve& settings, const std::string& stream,
                                                 const std::filesystem::path& beside);

}  // namespace nustream::serve
