#include <iostream>
#include <string>
#include <vector>

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

/// What the operator should look at once more: identifiers that were perhaps mistyped.
std::vector<std::string> cautions(const users::NamedUsers& closed) {
  std::vector<std::string> all;
  if (closed.unknown > 0) {
    all.push_back(
        fmt::format("operator only, not private: {} of them had contributed to no step; if they should have, "
                    "compare their text with the records",
                    console::with_separators(closed.unknown)));
  }
  if (closed.quoted > 0) {
    all.push_back(fmt::format("{} stood in quotes or between blanks, which are taken for a part of the identifier",
                              console::with_separators(closed.quoted)));
  }
  if (closed.nobody > 0) {
    all.push_back(fmt::format("{} more named nobody: a line that is empty, or a text of privacy.user_null",
                              console::with_separators(closed.nobody)));
  }
  return all;
}

bool is_attached(const config::Config& config) {
  return !config.kafka.brokers.empty();
}

}  // namespace

Exit users_close(const UsersArguments& arguments) {
  secrets::harden_process();
  const config::Config config = config_of(arguments);
  const bool attached = is_attached(config);
  const users::NamedUsers closed =
      attached ? attach::close_users(config, attach::stream_keys(config, arguments.insecure_seed), std::cin)
               : folder::close_users(config, arguments.insecure_seed, std::cin);
  const bool is_one = closed.users == 1;
  fmt::print("{}: {} {} closed: {} again; what was released is not undone\n",
             attached ? config.stream : config.state.directory, console::with_separators(closed.users),
             is_one ? "identifier is" : "identifiers are", is_one ? "it never counts" : "none of them counts");
  for (const std::string& caution : cautions(closed)) fmt::print("{}\n", caution);
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
