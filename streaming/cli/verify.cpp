#include "verify/verify.h"

#include <CLI/CLI.hpp>

#include "cli/arguments.h"

namespace nustream::cli {

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

}  // namespace nustream::cli
