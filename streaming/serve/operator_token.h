// Settles the file with the token that the operator's listener asks for; makes it where no setting names one.
#pragma once

#include <filesystem>
#include <string>

#include "config/serve.h"

namespace nustream::serve {

/// The value of serve.operator_token_file for a listener that asks for no token.
inline constexpr const char* no_token = "none";

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
