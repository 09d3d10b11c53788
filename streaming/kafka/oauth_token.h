// Tokens of SASL/OAUTHBEARER (RFC 7628) from a file or a command of the user's, refreshed before they expire.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "kafka/handles.h"
#include "kafka/secret_properties.h"

namespace nustream::kafka {

struct OAuthToken {
  std::string value;
  std::chrono::system_clock::time_point expires;
  std::string principal;  ///< for the library's own messages; the broker reads the token
};

/// What a file or a command gives: a token by itself, or a JSON object as an OAuth 2.0 server answers (RFC 6749 §5.1,
/// "access_token" and "expires_in") or as signers of MSK IAM print ("token" and "expiryMs"). Its end of life is
/// told by that, or by "exp" of a JSON Web Token; else five minutes from `now`. Failure(permission) for text without
/// a token; no message holds any of the text.
[[nodiscard]] OAuthToken parse_oauth_token(std::string_view text, std::chrono::system_clock::time_point now);

/// Takes the source of tokens out of `properties`; where there is one, tells `configuration` to call for tokens.
/// Failure(configuration) where both sources are given, or where sasl.mechanism is not OAUTHBEARER.
void take_oauth_source(Properties& properties, rd_kafka_conf_s& configuration);

/// Lets a new client of such a configuration fetch its tokens on a thread of its own. Nothing for others.
void serve_oauth_source(const Properties& properties, rd_kafka_s& client);

}  // namespace nustream::kafka
