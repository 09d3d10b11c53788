// Tokens of SASL/OAUTHBEARER. librdkafka asks for one in a callback that gets a text from the configuration; the text
// says where the token comes from ("file:PATH" or "command:WORDS"). command_output.cpp runs the command.
#include "kafka/oauth_token.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include <sodium.h>

#include <simdjson.h>

#include "config/kafka.h"
#include "error.h"
#include "kafka/client_settings.h"
#include "kafka/log_lines.h"
#include "secrets/secret_file.h"

namespace nustream::kafka {
namespace {

using config::oauth_command_property;
using config::oauth_file_property;
using SystemClock = std::chrono::system_clock;

// A token that does not tell its end is renewed after this time.
constexpr std::chrono::seconds life_of_unknown{300};
constexpr std::size_t token_bytes_max = std::size_t{1} << 16;
constexpr std::string_view of_file = "file:";
constexpr std::string_view of_command = "command:";

/// A failure that says what is wrong with a token, without a byte of it.
Failure unusable(const std::string& reason) {
  return {Exit::permission, "kafka: an OAuth token " + reason};
}

std::string_view trimmed(std::string_view text) {
  constexpr const char* blank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) + 1 - first);
}

/// Whether the text can be sent as a token: visible ASCII without blanks. Anything else is a page of an error, or a
/// file of another kind.
bool is_token(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char byte) { return byte > 0x20 && byte < 0x7f; });
}

/// The claims of a JSON Web Token (RFC 7519), the second of its three parts in base64url; empty for other tokens.
std::string claims_of(std::string_view token) {
  const std::size_t first = token.find('.');
  const std::size_t second = first == std::string_view::npos ? first : token.find('.', first + 1);
  if (second == std::string_view::npos) return {};
  const std::string_view part = token.substr(first + 1, second - first - 1);
  std::string claims(part.size(), '\0');
  std::size_t size = 0;
  if (::sodium_base642bin(reinterpret_cast<unsigned char*>(claims.data()), claims.size(), part.data(), part.size(),
                          nullptr, &size, nullptr, sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0) {
    return {};
  }
  claims.resize(size);
  return claims;
}

std::optional<double> number_in(const simdjson::dom::object& object, std::string_view key) {
  double number = 0;
  return object[key].get(number) == simdjson::SUCCESS ? std::optional(number) : std::nullopt;
}

std::string text_in(const simdjson::dom::object& object, std::string_view key) {
  std::string_view text;
  return object[key].get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

SystemClock::time_point at_milliseconds(double since_1970) {
  // Clamped, because the number comes from outside and a conversion of a number that is too large is undefined.
  return SystemClock::time_point(
      std::chrono::milliseconds(static_cast<std::int64_t>(std::clamp(since_1970, 0.0, 4e15))));
}

/// Adds what a token tells of itself: its subject, and its end unless that is known already.
void add_claims(OAuthToken& token, std::optional<SystemClock::time_point> known_end) {
  simdjson::dom::parser parser;
  simdjson::dom::object claims;
  // Claims that cannot be read are no failure: a token may be any text.
  if (parser.parse(claims_of(token.value)).get(claims) == simdjson::SUCCESS) {
    if (const std::string subject = text_in(claims, "sub"); is_token(subject)) token.principal = subject;
    if (const auto end = number_in(claims, "exp"); end && !known_end) known_end = at_milliseconds(*end * 1000);
  }
  if (known_end) token.expires = *known_end;
}

secrets::SecretFile opened(const std::string& file) {
  return {file,
          token_bytes_max,
          {"token file", "it is named by kafka.oauth_token_file",
           "run chmod 600 on it, and exchange the token if others read it"}};
}

/// The text that the source gives now. It is read anew each time, so that a renewed file or command is enough.
std::string fetch(std::string_view source) {
  if (source.starts_with(of_file)) return std::string(opened(std::string(source.substr(of_file.size()))).text());
  return output_of_command(source.substr(of_command.size()), token_bytes_max);
}

/// Gives the client a new token. librdkafka calls it on the client's background thread, at the start and when four
/// fifths of a token's life are over.
void refresh(rd_kafka_t* client, const char* source, void* /*opaque*/) {
  std::array<char, 512> text{};
  try {
    const SystemClock::time_point now = SystemClock::now();
    const OAuthToken token = parse_oauth_token(fetch(source), now);
    const auto expires =
        std::chrono::duration_cast<std::chrono::milliseconds>(token.expires.time_since_epoch()).count();
    if (rd_kafka_oauthbearer_set_token(client, token.value.c_str(), expires, token.principal.c_str(), nullptr, 0,
                                       text.data(), text.size()) == RD_KAFKA_RESP_ERR_NO_ERROR) {
      return;
    }
    log_line("OAUTH", "the client library refuses the token: is it past its end?");
    rd_kafka_oauthbearer_set_token_failure(client, "the token is refused by the client library");
  } catch (const std::exception& failure) {
    // The library tries again later by itself, and reports this reason meanwhile.
    log_line("OAUTH", failure.what());
    // The message holds nothing of the token (parse_oauth_token()).
    rd_kafka_oauthbearer_set_token_failure(client, failure.what());
  }
}

/// Refuses OAUTHBEARER where nothing says where tokens come from. A client would wait for one without a word, and the
/// brokers would seem to be away. The library itself makes tokens for tests, and asks a server by OpenID Connect.
void require_source(const Properties::value_type& mechanism, const Properties& properties) {
  const auto is = [&](const char* name, const char* value) {
    const auto found = properties.find(name);
    return found != properties.end() && found->second == value;
  };
  if (!uses_sasl(properties) || mechanism.second != "OAUTHBEARER" ||
      is("enable.sasl.oauthbearer.unsecure.jwt", "true") || is("sasl.oauthbearer.method", "oidc") ||
      is("sasl.oauthbearer.method", "OIDC")) {
    return;
  }
  throw RefusedProperty(Exit::configuration, mechanism.first,
                        "= OAUTHBEARER needs a source of tokens: set kafka.oauth_token_file or "
                        "kafka.oauth_token_command");
}

/// Removes the property, which is this project's own and unknown to librdkafka, and returns its value.
std::optional<std::string> taken(Properties& properties, std::string_view name) {
  const auto found = properties.find(std::string(name));
  if (found == properties.end()) return std::nullopt;
  std::string value = std::move(found->second);
  properties.erase(found);
  return value;
}

}  // namespace

OAuthToken parse_oauth_token(std::string_view text, SystemClock::time_point now) {
  OAuthToken token{std::string(trimmed(text)), now + life_of_unknown, "nustream"};
  std::optional<SystemClock::time_point> end;
  if (token.value.starts_with('{')) {
    simdjson::dom::parser parser;
    simdjson::dom::object object;
    if (parser.parse(token.value).get(object) != simdjson::SUCCESS) throw unusable("is in JSON that cannot be read");
    if (const auto left = number_in(object, "expires_in")) {
      end = now + std::chrono::seconds(static_cast<std::int64_t>(std::clamp(*left, 0.0, 1e9)));
    } else if (const auto at = number_in(object, "expiryMs")) {
      end = at_milliseconds(*at);
    }
    const std::string standard = text_in(object, "access_token");
    token.value = standard.empty() ? text_in(object, "token") : standard;
  }
  if (!is_token(token.value)) {
    throw Failure(
        Exit::permission,
        "kafka: the token file or command gave no OAuth token: it has to give the token itself, or JSON with "
        "\"access_token\" or \"token\"");
  }
  // The end that a JSON object names goes before the one in the claims of the token itself.
  add_claims(token, end);
  if (token.expires <= now) throw unusable("is past its end of life; give a new one");
  return token;
}

void require_token_file(const std::string& file) {
  static_cast<void>(opened(file));
}

void take_oauth_source(Properties& properties, rd_kafka_conf_s& configuration) {
  const std::optional<std::string> file = taken(properties, oauth_file_property);
  const std::optional<std::string> command = taken(properties, oauth_command_property);
  // librdkafka knows the property by both names.
  const auto mechanism = std::find_if(properties.begin(), properties.end(), [](const auto& property) {
    return property.first == "sasl.mechanism" || property.first == "sasl.mechanisms";
  });
  if (!file && !command) {
    if (mechanism != properties.end()) require_source(*mechanism, properties);
    return;
  }
  if (file && command) {
    throw RefusedProperty(Exit::configuration, std::string(config::oauth_file_property),
                          "cannot stand beside kafka.oauth_token_command: keep one of them");
  }
  if (mechanism == properties.end() || mechanism->second != "OAUTHBEARER") {
    throw RefusedProperty(Exit::configuration,
                          std::string(file ? config::oauth_file_property : config::oauth_command_property),
                          "needs kafka.librdkafka.\"sasl.mechanism\" = \"OAUTHBEARER\"; set it, or -X "
                          "sasl.mechanism=OAUTHBEARER");
  }
  // The library passes this text to refresh(), which thereby knows where tokens come from.
  properties["sasl.oauthbearer.config"] = file ? std::string(of_file) + *file : std::string(of_command) + *command;
  rd_kafka_conf_set_oauthbearer_token_refresh_cb(&configuration, refresh);
  // Tokens are then fetched on a thread of the library's own, also while nobody polls the client.
  rd_kafka_conf_enable_sasl_queue(&configuration, 1);
}

void serve_oauth_source(const Properties& properties, rd_kafka_s& client) {
  if (!config::renews_tokens(properties)) return;
  const ErrorHandle error(rd_kafka_sasl_background_callbacks_enable(&client));
  if (error)
    throw Failure(Exit::internal,
                  "kafka: tokens cannot be fetched: " + std::string(rd_kafka_error_string(error.get())));
}

}  // namespace nustream::kafka
