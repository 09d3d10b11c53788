// Secrets of the client library that lie in files or in the environment, not in the settings.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace nustream::kafka {

using Properties = std::map<std::string, std::string>;

/// Whether a property's value is a secret: passwords, keys, client secrets.
[[nodiscard]] bool is_secret(std::string_view name);

/// `properties` with secrets in place of where they lie: "sasl.password_file" = PATH becomes "sasl.password", the
/// file's first line; "sasl.password_env" = NAME the environment variable's value; a certificate or key in PEM form
/// ("ssl.key.pem_file") is the whole file. For every property that is_secret(), and for sasl.username. Read at each
/// call, so that a client made later has the secret of then. Failure(permission) for a file that is not private
/// (secrets::SecretFile), Failure(configuration) for a property that is no secret, one that is given twice, and a
/// variable that is not set. No message holds a secret. Where tokens come from (oauth_token.h) stays as it is.
[[nodiscard]] Properties with_secrets(const Properties& properties);

}  // namespace nustream::kafka
