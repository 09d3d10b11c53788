// The file with the token that the operator's listener asks for, made where no setting names one.
#pragma once

#include <filesystem>
#include <string>

#include "config/serve.h"

namespace nustream::serve {

/// The value of serve.operator_token_file for a listener that asks nobody.
inline constexpr const char* no_token = "none";

/// A file with a bearer token: which one, and whether it was made just now.
struct SettledToken {
  std::filesystem::path path;  ///< empty: no token is asked for
  bool is_new = false;
};

/// The file that `settings` names for the operator's listener; or, where they name none, STREAM.operator_token in the
/// folder `beside`, which holds the key. It is made, mode 0600 with 32 random bytes as hex digits, where it is not
/// there: what the listener shows depends on data, and any user of this machine can reach a loopback address.
/// No file where there is no such listener, and where the settings say "none". Failure(permission) where the file
/// cannot be made.
[[nodiscard]] SettledToken settle_operator_token(const config::Serve& settings, const std::string& stream,
                                                 const std::filesystem::path& beside);

}  // namespace nustream::serve
