#include <iostream>

#include <fmt/format.h>

#include "cli/commands.h"
#include "console/path_printer.h"
#include "folder/user_edits.h"
#include "secrets/harden.h"

namespace nustream::cli {

Exit users_close(const UsersArguments& arguments) {
  secrets::harden_process();
  const config::Config config = config::read_config(arguments.config.file, arguments.config.overrides);
  const std::uint64_t closed = folder::close_users(config, arguments.insecure_seed, std::cin);
  fmt::print("{}: {} identifiers are closed: none of them counts again; what was released is not undone\n",
             config.state.directory, console::with_separators(closed));
  return Exit::done;
}

Exit users_end(const UsersArguments& arguments) {
  secrets::harden_process();
  const config::Config config = config::read_config(arguments.config.file, arguments.config.overrides);
  folder::end_users(config, arguments.insecure_seed);
  fmt::print("{}: nothing is known of its users any more; older copies of the folder still know them\n",
             config.state.directory);
  return Exit::done;
}

}  // namespace nustream::cli
