// A command over a configuration, with its JSON.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <simdjson.h>

#include "command.h"
#include "temporary_folder.h"

namespace nustream::tests {

/// What a command printed as JSON; nothing parsed where it failed.
struct JsonOutput {
  CommandResult command;
  simdjson::dom::parser parser;
  simdjson::dom::element json;

  explicit JsonOutput(CommandResult result) : command(std::move(result)) {
    if (command.code == 0) json = parser.parse(command.out);
  }
  [[nodiscard]] double value(const char* object, const char* name) { return json[object][name].get_double().value(); }
};

/// `nustream NAME CONFIG --json OPTIONS…` with its state in the folder's "state".
inline JsonOutput run_configured(const char* name, const TemporaryFolder& folder, const std::string& config,
                                 const std::vector<std::string>& options = {}) {
  std::vector<std::string> arguments{name, folder.write("model.toml", config), "--json", "--set",
                                     "state.directory=" + (folder.path() / "state").string()};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return JsonOutput(run_command(NUSTREAM_COMMAND, arguments, std::nullopt));
}

}  // namespace nustream::tests
