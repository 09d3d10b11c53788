#include <fmt/format.h>

#include "cli/commands.h"
#include "config/config.h"
#include "config/mechanism.h"
#include "publish/json_text.h"

namespace nustream::cli {

Exit check(const CheckArguments& arguments) {
  const config::Config config = config::read_config(arguments.config.file, arguments.config.overrides);
  const config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
  const std::string digest = config::settings_digest(config, mechanism);
  if (arguments.json) {
    std::string line = "{\"valid\":true,\"stream\":";
    publish::append_string(config.stream, line);
    line += ",\"digest\":\"" + digest + "\"}";
    fmt::print("{}\n", line);
  } else {
    fmt::print("{}: valid; stream {}, {} parameters, settings digest {}\n", arguments.config.file, config.stream,
               config.descent.dimension, digest);
  }
  return Exit::done;
}

}  // namespace nustream::cli
