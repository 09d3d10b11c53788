#include "attach/attach.h"

#include "cli/commands.h"

namespace nustream::cli {
namespace {

/// The command line's own options, as if they were written in the file.
std::vector<std::string> overrides_of(const AttachArguments& arguments) {
  std::vector<std::string> overrides = arguments.config.overrides;
  const auto set = [&](const char* key, const std::string& value) {
    if (!value.empty()) overrides.push_back(std::string(key) + "=\"" + value + "\"");
  };
  set("kafka.brokers", arguments.brokers);
  set("kafka.topic", arguments.topic);
  set("kafka.group", arguments.group);
  if (arguments.until_end) set("kafka.stop", "end");
  return overrides;
}

}  // namespace

Exit attach(const AttachArguments& arguments) {
  config::Config config = config::read_config(arguments.config.file, overrides_of(arguments));
  for (const std::string& property : arguments.properties) {
    const std::size_t equals = property.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw Failure(Exit::usage, "-X " + property + ": write it as name=value");
    }
    config.kafka.properties[property.substr(0, equals)] = property.substr(equals + 1);
  }
  return attach::run(std::move(config), arguments.options);
}

}  // namespace nustream::cli
