#include "attach/attach.h"

#include <array>

#include "cli/commands.h"
#include "console/start_again.h"

namespace nustream::cli {
namespace {

/// What the process that takes this one's place must not do again. The settings are written already. A gap may be
/// accepted only where the operator knows of it, not at a later one.
const std::array<console::OnceOption, 2> once{{{"--write-config", true}, {"--accept-gap", false}}};

}  // namespace

Exit attach(const AttachArguments& arguments) {
  if (arguments.min_usable) {
    throw Failure(
        Exit::usage,
        "--min-usable: attach has no such option: readers wait for a lane's releases, and their absence would tell "
        "of its records; look at them beforehand with: nustream check " +
            arguments.config.file + " --data --records 1000 --min-usable SHARE");
  }
  try {
    return attach::run(read_config(arguments.config, arguments.kafka), arguments.options);
  } catch (const console::StartAgain&) {
    console::start_again(once);  // nothing of the service is left by now
  }
}

}  // namespace nustream::cli
