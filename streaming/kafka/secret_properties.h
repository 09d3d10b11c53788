// Reads secrets of the client library that are in files or in the environment, not in the settings.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace nustream::kafka {

using Properties = std::map<std::string, std::string>;

/// Whether a property's value is a secret, such as a password, a key or a client secret.
[[nodiscard]] bool is_secret(std::string_view name);

/// Returns `properties` with the secrets themselves where they name a place. "sasl.password_file" = PATH becomes
/// "sasl.password" with the first line of that file, and "sasl.password_env" = NAME the same with the environment
/// variable's value. A certificate or key in PEM form ("ssl.key.pem_file") is the whole file. That holds for every
/// property that is_secret(), and for sasl.username. The places are read at each call, so that a client that is made
/// later has the secret of that time. The properties that say where OAuth tokens come from (oauth_token.h) stay as
/// they are.
///
/// Throws Failure(permission) for a file that is not private (secrets::SecretFile), and Failure(configuration) for a
/// property that is no secret, one that is given twice, and a variable that is not set. No message holds a secret.
[[nodiscard]] Properties with_secrets(const Properties& properties);

}  // namespace nustream::kafka
