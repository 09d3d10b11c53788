// Runs a command over a configuration, and parses its JSON.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <simdjson.h>

#include "command.h"
#include "temporary_folder.h"

namespace nustream::tests {

/// What a command printed as JSON, and what it told its operator in a file. Nothing is parsed where the command
/// failed.
struct JsonOutput {
  CommandResult command;
  simdjson::dom::parser parser;
  simdjson::dom::element json;
  simdjson::dom::parser operator_parser;
  simdjson::dom::element for_operator;

  explicit JsonOutput(CommandResult result, const std::string& operator_file = {}) : command(std::move(result)) {
    if (command.code != 0) return;
    json = parser.parse(command.out);
    if (!operator_file.empty()) for_operator = operator_parser.load(operator_file);
  }
  [[nodiscard]] double value(const char* object, const char* name) { return json[object][name].get_double().value(); }
};

/// Runs `nustream NAME CONFIG --json OPTIONS…` with its state in the folder's "state". For `estimate` and `replay`,
/// what the operator is told goes to a file.
inline JsonOutput run_configured(const char* name, const TemporaryFolder& folder, const std::string& config,
                                 const std::vector<std::string>& options = {}) {
  const std::string for_operator = (folder.path() / "operator.json").string();
  std::vector<std::string> arguments{name, folder.write("model.toml", config), "--json", "--set",
                                     "state.directory=" + (folder.path() / "state").string()};
  const std::string_view command = name;
  const bool has_operator = command == "estimate" || command == "replay";
  if (has_operator) arguments.insert(arguments.end(), {"--operator-json", for_operator});
  arguments.insert(arguments.end(), options.begin(), options.end());
  return JsonOutput(run_command(NUSTREAM_COMMAND, arguments, std::nullopt),
                    has_operator ? for_operator : std::string());
}

}  // namespace nustream::tests
