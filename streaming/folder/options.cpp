// Builds the command that a person types next. It repeats what the settings file does not say: files, --set, the seed
// and the window.
#include "folder/options.h"

#include <fmt/format.h>

#include "config/typed.h"
#include "shell_word.h"

namespace nustream::folder {

std::string command_to_go_on(const config::Config& config, const Options& options, const std::string& option) {
  std::string command = fmt::format("nustream {} {}", options.command, in_shell(config.file));
  for (const std::string& file : options.files) command += " " + in_shell(file);
  command += config::typed_settings(config.overrides);
  if (options.lane) command += fmt::format(" --lane {}", *options.lane);
  if (options.insecure_seed) command += fmt::format(" --insecure-seed {}", *options.insecure_seed);
  if (options.compared) command += " --compare-nonprivate";
  // With several passes --from is a part of the window, and a resume needs it again. With one pass a resume refuses
  // it, because the state knows the position.
  if (options.passes > 1) {
    command += fmt::format(" --passes {}", options.passes);
    // A new epoch of several passes has to say where they begin.
    const std::string from = options.from.value_or(option.starts_with("--new-epoch") ? "0" : "");
    if (!from.empty() && option.find("--from ") == std::string::npos) command += " --from " + in_shell(from);
  }
  if (options.to) command += " --to " + in_shell(*options.to);
  return command + " " + option;
}

}  // namespace nustream::folder
