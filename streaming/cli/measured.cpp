#include "cli/measured.h"

#include <utility>

#include <fmt/format.h>

#include "console/new_file.h"
#include "console/signals.h"
#include "error.h"
#include "secrets/locked_memory.h"

namespace nustream::cli {

measure::Settled settle_ranges(config::Config asked, config::Purpose purpose, const folder::Options& options,
                               const std::string& write_config, folder::AccountShare& share) {
  if (asked.measuring.keys.empty()) {
    if (write_config.empty()) return {std::move(asked), options};
    throw Failure(Exit::usage,
                  "--write-config: no setting of " + asked.file + " is \"private\"; it is what it would hold");
  }
  if (options.min_usable) {
    throw Failure(
        Exit::usage,
        "--min-usable: looks at records before anything is spent, and what is \"private\" is measured before "
        "that; it stops by its own noisy share: leave the option out");
  }
  secrets::harden_process();
  static_cast<void>(console::watch_signals());
  console::require_new_file(write_config);
  measure::Settled settled = measure::settle(asked, purpose, options, share);
  if (!options.json && !options.quiet) measure::show(settled, asked);
  if (!write_config.empty()) {
    console::write_new_file(write_config, measure::used_settings(settled.config, asked, asked.state.directory),
                            "what was measured is committed; the same command with --resume goes on");
    fmt::print(stderr,
               "nustream: {} holds the settings that are used; a run of it over the same records is a second spend, "
               "and adds\n",
               write_config);
  }
  return settled;
}

}  // namespace nustream::cli
