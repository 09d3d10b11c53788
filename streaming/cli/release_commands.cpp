// The command lines of `nustream solve`, `nustream verify` and `nustream export`, which work on published releases.
#include "solve/solve.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "config/ranges.h"
#include "csv/export.h"
#include "error.h"
#include "journal/outbox_folder.h"
#include "shell_word.h"
#include "verify/verify.h"

namespace nustream::cli {

Exit solve(const SolveArguments& arguments) {
  std::error_code unknown;
  if (const std::filesystem::path folder = arguments.config.file; std::filesystem::is_directory(folder, unknown)) {
    throw Failure(Exit::io,
                  fmt::format("{}: is a folder, and solve takes the configuration that releases were made "
                              "with: nustream solve CONFIG --release {}",
                              folder.string(), in_shell((folder / journal::folder_files::releases).string())));
  }
  // The settings may still say "private" where the release tells the values.
  const config::Purpose purpose = config::purpose_of(arguments.config.file, arguments.config.overrides);
  return solve::run(config::read_config_to_measure(arguments.config.file, arguments.config.overrides, purpose),
                    purpose, arguments.options);
}

// For example: nustream solve CONFIG --features temp,hum
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
      ->check(not_negative());
  command->add_flag("--json", options.json, "print JSON");
  command->callback([&job] { job = [] { return solve(arguments); }; });
}

// For example: nustream verify runs/mine/releases.jsonl runs/mine/ledger --public-key stream.pub
void add_verify(CLI::App& app, Job& job) {
  static verify::Options options;
  CLI::App* command =
      app.add_subcommand("verify", "whether releases and a ledger are what a stream published; needs no key");
  command->add_option("RELEASES", options.releases, "file of releases, one a line")->required();
  command->add_option("LEDGER", options.ledger, "file of the ledger of one lane")->required();
  command
      ->add_option("--public-key", options.public_key,
                   "the stream's, as inspect or the status page shows it; or a file")
      ->required();
  command->add_flag("--complete", options.complete,
                    "end with 65 unless RELEASES holds this lane's releases alone, from the first to the last one by "
                    "cadence that the ledger names");
  command->add_flag("--json", options.json, "print JSON");
  command->callback([&job] { job = [] { return verify::run(options); }; });
}

// For example: nustream export runs/mine --csv > releases.csv
void add_export(CLI::App& app, Job& job) {
  static csv::Options options;
  CLI::App* command = app.add_subcommand("export", "releases as a table for other programs: one row a release");
  command
      ->add_option("RELEASES", options.place, "file of releases, one a line, or a state folder; - is standard input")
      ->required();
  command->add_flag("--csv", options.csv, "as CSV with a line of names, on standard output")->required();
  command->callback([&job] { job = [] { return csv::run(options); }; });
}

}  // namespace nustream::cli
