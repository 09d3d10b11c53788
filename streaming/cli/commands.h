// The commands, each with its options and its job. A job returns the exit code or throws.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "error.h"

namespace nustream::cli {

/// What the parsed command line is to do; set by the subcommand that was chosen.
using Job = std::function<Exit()>;

void add_plan(CLI::App& app, Job& job);
void add_replay(CLI::App& app, Job& job);
void add_check(CLI::App& app, Job& job);
void add_inspect(CLI::App& app, Job& job);
void add_key(CLI::App& app, Job& job);

/// CONFIG and --set, which most commands share.
struct ConfigArguments {
  std::string file;
  std::vector<std::string> overrides;
};
void add_config_arguments(CLI::App& command, ConfigArguments& arguments);

}  // namespace nustream::cli
