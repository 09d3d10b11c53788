#include "solve/solve.h"

#include <CLI/CLI.hpp>

#include "cli/arguments.h"
#include "cli/commands.h"

namespace nustream::cli {

Exit solve(const SolveArguments& arguments) {
  const config::Purpose purpose = config::purpose_of(arguments.config.file, arguments.config.overrides);
  return solve::run(config::read_config(arguments.config.file, arguments.config.overrides, purpose),
                    arguments.options);
}

void add_solve(CLI::App& app, Job& job) {
  static SolveArguments arguments;
  solve::Options& options = arguments.options;
  CLI::App* command = app.add_subcommand("solve", "other linear models from the sums that a release shows; free");
  add_config_arguments(*command, arguments.config);
  command->add_option(
      "--release", options.release,
      "file whose last line is a release, or a combined model; without it the state folder's releases");
  command->add_option("--features", options.features, "the features that are kept, by name; without it all")
      ->delimiter(',');
  command->add_option("--target", options.target, "a feature to explain in the target's place");
  command->add_option("--ridge", options.ridge, "added to the diagonal of the sums (working units)")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--json", options.json, "print JSON");
  command->callback([&job] { job = [] { return solve(arguments); }; });
}

}  // namespace nustream::cli
