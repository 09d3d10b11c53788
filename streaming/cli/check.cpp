#include <memory>

#include <fmt/format.h>

#include "cli/commands.h"
#include "config/config.h"
#include "config/mechanism.h"
#include "publish/json_text.h"

namespace nustream::cli {
namespace {

Exit check(const ConfigArguments& arguments, bool json) {
  const config::Config config = config::read_config(arguments.file, arguments.overrides);
  const config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
  const std::string digest = config::settings_digest(config, mechanism);
  if (json) {
    std::string line = "{\"valid\":true,\"stream\":";
    publish::append_string(config.stream, line);
    line += ",\"digest\":\"" + digest + "\"}";
    fmt::print("{}\n", line);
  } else {
    fmt::print("{}: valid; stream {}, {} parameters, settings digest {}\n", arguments.file, config.stream,
               config.descent.dimension, digest);
  }
  return Exit::done;
}

}  // namespace

void add_check(CLI::App& app, Job& job) {
  CLI::App* command = app.add_subcommand("check", "validate a configuration without running it");
  auto arguments = std::make_shared<ConfigArguments>();
  auto json = std::make_shared<bool>(false);
  add_config_arguments(*command, *arguments);
  command->add_flag("--json", *json, "print JSON");
  command->callback([=, &job] { job = [=] { return check(*arguments, *json); }; });
}

}  // namespace nustream::cli
