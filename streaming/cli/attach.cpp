#include "attach/attach.h"

#include "cli/commands.h"
#include "console/start_again.h"

namespace nustream::cli {

Exit attach(const AttachArguments& arguments) {
  if (arguments.min_usable) {
    throw Failure(
        Exit::usage,
        "--min-usable: an attached lane's releases are waited for, and that they do not begin would tell of "
        "its records; look at them beforehand with: nustream check " +
            arguments.config.file + " --data --records 1000 --min-usable SHARE");
  }
  try {
    return attach::run(read_config(arguments.config, arguments.kafka), arguments.options);
  } catch (const console::StartAgain&) {
    console::start_again();  // by now nothing of the service is left
  }
}

}  // namespace nustream::cli
