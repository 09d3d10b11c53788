// Secrets are read from their places when a client is made, and are kept nowhere else. To notice that a file has
// changed, its hash is enough.
#include "kafka/secret_properties.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "config/kafka.h"
#include "error.h"
#include "nustream/noise/source.h"
#include "secrets/secret_file.h"
#include "shell_word.h"

namespace nustream::kafka {
namespace {

constexpr std::string_view by_file = "_file";
constexpr std::string_view by_variable = "_env";
// Enough for a chain of certificates with its key; librdkafka sets no limit.
constexpr std::size_t secret_bytes_max = std::size_t{1} << 20;

RefusedProperty refused_secret(const std::string& name, const std::string& reason) {
  return {Exit::configuration, name, reason};
}

/// A password ends where its line ends: editors put a newline behind it.
std::string first_line(std::string_view text) {
  return std::string(text.substr(0, std::min(text.find_first_of("\r\n"), text.size())));
}

/// The secret in the file at `path`, for the property `property`, which the settings call `name`.
std::string read_secret(const std::string& property, const std::string& name, const std::string& path) try {
  const secrets::SecretFile file(
      path, secret_bytes_max,
      {"secret file", "check path and owner", "run chmod 600 on it, and change the secret if others read it"});
  // A certificate or a key in PEM form has many lines.
  const std::string secret = property.ends_with(".pem") ? std::string(file.text()) : first_line(file.text());
  if (secret.empty() || file.bytes().size() > secret_bytes_max) {
    throw refused_secret(name, "names a file without a secret: " + path + "; write one into its first line");
  }
  return secret;
} catch (const RefusedProperty&) {
  throw;
} catch (const Failure& failure) {
  throw RefusedProperty(failure.code(), name, "names a file that cannot be used: " + std::string(failure.what()));
}

std::string secret_of_variable(const std::string& name, const std::string& variable) {
  const char* const value = std::getenv(variable.c_str());
  if (value == nullptr || *value == '\0') {
    throw refused_secret(name, "names an environment variable that is not set: " + variable + "; set it");
  }
  return value;
}

}  // namespace

bool is_secret(std::string_view name) {
  // librdkafka has no list of its secrets, and so the names are told by what they contain.
  constexpr std::string_view parts[] = {"password", "secret", ".pem", "oauthbearer.config",
                                        "sasl.oauthbearer.extensions"};
  return std::any_of(std::begin(parts), std::end(parts),
                     [name](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

Properties with_secrets(const Properties& properties) {
  Properties result;
  for (const auto& [name, value] : properties) {
    // These two say where tokens come from, and are no secrets themselves (oauth_token.h).
    if (name == config::oauth_file_property || name == config::oauth_command_property) {
      result.emplace(name, value);
      continue;
    }
    const bool file = name.ends_with(by_file);
    const bool variable = name.ends_with(by_variable);
    // "sasl.password_file" and "sasl.password_env" both become "sasl.password".
    const std::string property = name.substr(0, name.size() - (file       ? by_file.size()
                                                               : variable ? by_variable.size()
                                                                          : 0));
    if (file || variable) {
      if (!is_secret(property) && property != "sasl.username") {
        throw refused_secret(name, (file ? "names a file, but '" : "names a variable, but '") + property +
                                       "' is no secret: write its value into the settings, without " +
                                       std::string(file ? by_file : by_variable));
      }
    }
    const std::string secret = file       ? read_secret(property, name, value)
                               : variable ? secret_of_variable(name, value)
                                          : value;
    // The properties are a map, so that a name can only come twice by different endings.
    if (!result.emplace(property, secret).second) {
      throw refused_secret(name, "is given twice: by itself, in a file, or in the environment; keep one");
    }
  }
  return result;
}

namespace {

/// Whether the property's value is the path of a secret that a client reads once: librdkafka's own names end in
/// ".location", and this project's in "_file". The file of an OAuth token is read again for each token, so that its
/// content may change at any time.
bool names_a_file(const std::string& property) {
  if (property == config::oauth_file_property) return false;
  return (property.starts_with("ssl.") && property.ends_with(".location")) || property.ends_with("_file");
}

/// The hash of a file's content; nothing where it cannot be read. The content is secret, so that only its hash is
/// kept.
std::optional<journal::Hash> hash_of_file(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) return std::nullopt;
  const journal::Hash hash = journal::hash_of(bytes);
  noise::wipe({reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()});
  return hash;
}

}  // namespace

std::string typed_properties(const std::vector<std::string>& typed) {
  std::string words;
  for (const std::string& property : typed) {
    const std::string name = property.substr(0, property.find('='));
    // Words of a command for tokens may be passwords, as those of the settings may.
    const bool may_be_secret = (is_secret(name) && !names_a_file(name)) || name == config::oauth_command_property;
    words += " -X " + (may_be_secret ? name + "=…" : in_shell(property));
  }
  return words;
}

SecretFiles::SecretFiles(const Properties& properties) {
  for (const auto& [name, path] : properties) {
    if (!names_a_file(name)) continue;
    if (const auto hash = hash_of_file(path)) files_[name] = {path, *hash};
  }
}

std::string SecretFiles::changed() const {
  std::string names;
  for (const auto& [name, seen] : files_) {
    const auto now = hash_of_file(seen.path);
    // A file that cannot be read may be about to be replaced.
    if (!now || *now == seen.contents) continue;
    if (!names.empty()) names += ", ";
    names += name;
  }
  return names;
}

}  // namespace nustream::kafka
