// Puts what a person typed into words of a shell again, without what may be a secret.
#include "config/typed.h"

#include "shell_word.h"

namespace nustream::config {

std::string printable(const std::string& setting) {
  const std::string key = setting.substr(0, setting.find('='));
  // Values of the client library and arguments of a program may be passwords.
  const bool may_be_secret = key.starts_with("kafka.librdkafka") || key.starts_with("kafka.oauth_token_command");
  return may_be_secret || key == "kafka" ? key + "=…" : in_shell(setting);
}

std::string typed_settings(const std::vector<std::string>& overrides) {
  std::string words;
  for (const std::string& text : overrides) words += " --set " + printable(text);
  return words;
}

std::string set_or_file(const Config& config, std::string_view key) {
  for (const std::string& text : config.overrides) {
    if (text.starts_with(std::string(key) + "=")) return "--set " + std::string(key);
  }
  return config.file;
}

void name_look(Config& config, const std::vector<std::string>& files) {
  std::string command = "nustream check " + in_shell(config.file);
  for (const std::string& file : files) command += " " + in_shell(file);
  config.input.look = command + " --data" + typed_settings(config.overrides);
}

}  // namespace nustream::config
