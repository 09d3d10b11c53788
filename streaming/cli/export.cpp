#include "csv/export.h"

#include <CLI/CLI.hpp>

#include "cli/arguments.h"

namespace nustream::cli {

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
