// The readers of a run's own files, as `nustream check` calls them. They are those of the run, so that both say the
// same, and none of them makes a file.
#include "cli/run_files.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "kafka/oauth_token.h"
#include "located.h"
#include "log/log.h"
#include "secrets/key_file.h"
#include "secrets/key_place.h"
#include "serve/bearer_token.h"
#include "shell_word.h"

namespace nustream::cli {
namespace {

/// Whether a file is named and nothing is there under that name. What cannot be looked at counts as there.
bool is_missing(const std::filesystem::path& file) {
  std::error_code unknown;
  return !file.empty() && std::filesystem::status(file, unknown).type() == std::filesystem::file_type::not_found;
}

/// Whether another user than this one may read the file, as one that a service's own user keeps.
bool is_of_others(const std::string& file) {
  return ::access(file.c_str(), R_OK) != 0 && errno == EACCES;
}

/// Whether a file that a run would make has no folder to be made in.
bool lacks_folder(const std::filesystem::path& file) {
  return is_missing(file) && is_missing(file.parent_path());
}

/// Says of a file that it is not there, and how to get it.
std::string told_of(const char* key, const std::string& what, const std::string& next) {
  return fmt::format("{}: {} is not there: a run on this machine would be refused; {}", key, what, next);
}

void add_missing_file(const char* key, const std::string& file, const std::string& next,
                      std::vector<std::string>& sentences) {
  if (is_missing(file)) sentences.push_back(told_of(key, "'" + file + "'", next));
}

void add_missing_folder(const char* key, const std::string& file, std::vector<std::string>& sentences) {
  if (lacks_folder(file)) sentences.push_back(told_of(key, "the folder of '" + file + "'", "make it"));
}

/// A property of the client library; "" where it is not set.
std::string property_of(const config::Config& config, std::string_view name) {
  const auto found = config.kafka.properties.find(std::string(name));
  return found == config.kafka.properties.end() ? std::string() : found->second;
}

/// Whether a program would be found as a shell finds it: by its path, or else in the folders of PATH.
bool is_program(const std::string& program) {
  if (program.find('/') != std::string::npos) return ::access(program.c_str(), X_OK) == 0;
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/bin:/usr/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

/// Warns where the source of tokens for the brokers is not there, or is not for this user.
void add_source_of_tokens(const config::Config& config, std::vector<std::string>& sentences) {
  constexpr const char* of_file = "kafka.oauth_token_file";
  const std::string token = property_of(config, config::oauth_file_property);
  add_missing_file(of_file, token, "write a token into it", sentences);
  if (is_of_others(token)) {
    sentences.push_back(
        fmt::format("{}: '{}' cannot be read by this user: check as the user that runs", of_file, token));
  }
  const std::string words = property_of(config, config::oauth_command_property);
  // The words of the command stand one on each line, and the program is the first of them.
  const std::string program = words.substr(0, words.find('\n'));
  if (!program.empty() && !is_program(program)) {
    sentences.push_back(
        told_of("kafka.oauth_token_command", "the program '" + program + "'", "install it, or name it by its path"));
  }
}

/// The listeners of attach; null where nobody attaches.
const config::Serve* served(const config::Config& config) {
  return config.kafka.brokers.empty() ? nullptr : &config.serve;
}

}  // namespace

void require_key(const config::Config& config) {
  const std::string& file = config.state.key_file;
  if (file.empty() || is_missing(file) || is_of_others(file)) return;
  located("state.key_file", [&] { static_cast<void>(secrets::load_key_file(file)); });
}

void require_files_of_service(const config::Config& config) {
  if (!config.log.file.empty() && !lacks_folder(config.log.file)) log::require_writable(config.log.file);
  if (const std::string token = property_of(config, config::oauth_file_property);
      !token.empty() && !is_missing(token) && !is_of_others(token)) {
    kafka::require_token_file(token);
  }
  const std::string& key = config.state.key_file;
  config::Serve serve = config.serve;
  if (is_missing(serve.public_token_file)) serve.public_token_file.clear();
  // The operator's token lies beside the key unless the settings say otherwise. Where there is no key there is no
  // place for it either.
  const bool has_place = !key.empty() && !is_missing(key);
  const std::string& named = serve.operator_token_file;
  if (named.empty() ? !has_place : lacks_folder(named)) serve.operator_token_file = serve::no_token;
  serve::require_tokens(serve, config.stream, has_place ? secrets::real_path(key).parent_path() : ".");
}

std::vector<std::string> missing_files(const config::Config& config) {
  std::vector<std::string> sentences;
  const std::string& key = config.state.key_file;
  add_missing_file("state.key_file", key,
                   fmt::format("restore it, or, for a new stream, make one: nustream key new {}", in_shell(key)),
                   sentences);
  if (is_of_others(key)) {
    sentences.push_back(
        fmt::format("state.key_file: '{}' cannot be read by this user: check as the user that runs", key));
  }
  const std::string& account = config.privacy.account;
  add_missing_file(
      "privacy.account", account,
      fmt::format("restore it, or, for new streams, make one: nustream account new {} --rho RHO", in_shell(account)),
      sentences);
  const config::Serve* const serve = served(config);
  if (serve == nullptr) return sentences;
  add_source_of_tokens(config, sentences);
  add_missing_folder("log.file", config.log.file, sentences);
  if (!serve->public_address.empty() && serve->public_token_file != serve::no_token)
    add_missing_file("serve.public_token_file", serve->public_token_file, "write a token into it", sentences);
  if (!serve->operator_address.empty() && serve->operator_token_file != serve::no_token)
    add_missing_folder("serve.operator_token_file", serve->operator_token_file, sentences);
  return sentences;
}

}  // namespace nustream::cli
