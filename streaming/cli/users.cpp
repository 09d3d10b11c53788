#include <iostream>

#include <fmt/format.h>

#include "attach/edit_users.h"
#include "attach/preflight.h"
#include "cli/commands.h"
#include "console/path_printer.h"
#include "folder/user_edits.h"
#include "secrets/locked_memory.h"

namespace nustream::cli {
namespace {

/// The settings of a topic where brokers are named, else those of the state folder.
config::Config config_of(const UsersArguments& arguments) {
  config::Config config = read_config(arguments.config, arguments.kafka);
  attach::preflight(config);
  return config;
}

bool is_attached(const config::Config& config) {
  return !config.kafka.brokers.empty();
}

}  // namespace

Exit users_close(const UsersArguments& arguments) {
  secrets::harden_process();
  const config::Config config = config_of(arguments);
  const bool attached = is_attached(config);
  const std::uint64_t closed =
      attached ? attach::close_users(config, attach::stream_keys(config, arguments.insecure_seed), std::cin)
               : folder::close_users(config, arguments.insecure_seed, std::cin);
  fmt::print("{}: {} identifiers are closed: none of them counts again; what was released is not undone\n",
             attached ? config.stream : config.state.directory, console::with_separators(closed));
  return Exit::done;
}

Exit users_end(const UsersArguments& arguments) {
  secrets::harden_process();
  const config::Config config = config_of(arguments);
  if (is_attached(config)) {
    attach::end_users(config, attach::stream_keys(config, arguments.insecure_seed));
    fmt::print(
        "{}: nothing is known of its users any more; records that compaction has not taken away yet, and other "
        "copies of the topics, still know them\n",
        config.stream);
    return Exit::done;
  }
  folder::end_users(config, arguments.insecure_seed);
  fmt::print("{}: nothing is known of its users any more; older copies of the folder still know them\n",
             config.state.directory);
  return Exit::done;
}

}  // namespace nustream::cli
