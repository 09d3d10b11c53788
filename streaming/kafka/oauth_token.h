// Takes tokens of SASL/OAUTHBEARER (RFC 7628) from a file or a command of the user's, and refreshes them before they
// expire.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "kafka/handles.h"
#include "kafka/secret_properties.h"

namespace nustream::kafka {

/// Runs a program with its arguments, without a shell, and returns what it prints on standard output. `words` has the
/// program and each argument on a line of its own. Standard error is this process's; the program inherits no other
/// descriptors.
///
/// Throws Failure(permission) where it cannot be started, ends with another code than 0, prints more than
/// `bytes_max`, or has not ended within `time_max`, after which it is killed. No message holds what it printed.
[[nodiscard]] std::string output_of_command(std::string_view words, std::size_t bytes_max,
                                            std::chrono::milliseconds time_max = std::chrono::seconds{30});

struct OAuthToken {
  std::string value;
  std::chrono::system_clock::time_point expires;
  std::string principal;  ///< a name for the library's own messages; the broker goes by the token
};

/// Reads what a file or a command gives. That is a token by itself, or a JSON object as an OAuth 2.0 server answers
/// (RFC 6749 §5.1, "access_token" and "expires_in") or as signers of MSK IAM print ("token" and "expiryMs"). Its end
/// of life is what the object says, or else "exp" of a JSON Web Token, or else five minutes from `now`. Throws
/// Failure(permission) for a text without a token, or a token past its end. No message holds any of the text.
[[nodiscard]] OAuthToken parse_oauth_token(std::string_view text, std::chrono::system_clock::time_point now);

/// Throws Failure(permission) where a client would refuse to read its token from the file, which is there.
void require_token_file(const std::string& file);

/// Takes the source of tokens out of `properties`. Where there is one, it has `configuration` ask for tokens. Throws
/// RefusedProperty where both sources are given, where sasl.mechanism is not OAUTHBEARER, and where that has no
/// source.
void take_oauth_source(Properties& properties, rd_kafka_conf_s& configuration);

/// Lets a new client with such a configuration fetch its tokens on a thread of its own. Does nothing for other
/// clients.
void serve_oauth_source(const Properties& properties, rd_kafka_s& client);

}  // namespace nustream::kafka
