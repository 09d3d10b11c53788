// Builds the command that a person types next. It repeats what the settings file does not say: files, --set, the seed
// and the window.
#include "folder/options.h"

#include <fmt/format.h>

#include "shell_word.h"

namespace nustream::folder {
namespace {

/// What a person typed behind --set, as it may be printed and logged. A value is left out where it may hold a
/// password, as those of the client library may.
std::string printable(const std::string& setting) {
  const std::string key = setting.substr(0, setting.find('='));
  const bool may_be_secret = key.starts_with("kafka.librdkafka") || key.starts_with("kafka.oauth_token_command");
  return may_be_secret || key == "kafka" ? key + "=…" : in_shell(setting);
}

}  // namespace

std::string command_to_go_on(const config::Config& config, const Options& options, const std::string& option) {
  std::string command = fmt::format("nustream {} {}", options.command, in_shell(config.file));
  for (const std::string& file : options.files) command += " " + in_shell(file);
  for (const std::string& text : config.overrides) command += " --set " + printable(text);
  if (options.lane) command += fmt::format(" --lane {}", *options.lane);
  if (options.insecure_seed) command += fmt::format(" --insecure-seed {}", *options.insecure_seed);
  if (options.compared) command += " --compare-nonprivate";
  // With several passes --from is a part of the window, and a resume needs it again. With one pass a resume refuses
  // it, because the state knows the position.
  if (options.passes > 1) {
    command += fmt::format(" --passes {}", options.passes);
    // A new epoch of several passes has to say where they begin.
    const std::string from = options.from.value_or(option == "--new-epoch" ? "0" : "");
    if (!from.empty() && option.find("--from") == std::string::npos) command += " --from " + in_shell(from);
  }
  if (options.to) command += " --to " + in_shell(*options.to);
  return command + " " + option;
}

}  // namespace nustream::folder
