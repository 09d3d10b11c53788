// `nustream users close` and `nustream users end` (docs/users.md): they change what is known of users, in a state
// folder or in the topics of an attached stream. Identifiers come from standard input, one a line.
#include <iostream>
#include <string>

#include <fmt/format.h>

#include "attach/edit_users.h"
#include "attach/preflight.h"
#include "cli/commands.h"
#include "console/operator_counts.h"
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

/// "it", "all of them" or "12 of them", for a sentence about a part of the users.
std::string of_users(std::uint64_t part, std::uint64_t all) {
  if (all == 1) return "it";
  return part == all ? "all of them" : fmt::format("{} of them", console::with_separators(part));
}

/// Says what the operator should look at once more: identifiers that were perhaps mistyped. Whether somebody is in
/// the data is for the operator alone, while the other two follow from the lines.
void caution(const users::NamedUsers& closed) {
  if (closed.unknown > 0) {
    console::say_for_operator(of_users(closed.unknown, closed.users) +
                              " had contributed to no step; if that is not so, compare the text with the records");
  }
  if (closed.quoted > 0) {
    fmt::print("{} stood in quotes or between blanks, which count as a part of the identifier\n",
               of_users(closed.quoted, closed.users));
  }
  if (closed.nobody > 0) {
    fmt::print("{} named nobody by the present privacy.user_null\n", of_users(closed.nobody, closed.users));
  }
}

/// Whether the settings are of a stream in topics, where its users are kept in a topic as well.
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
  caution(closed);
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
