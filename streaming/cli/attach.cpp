#include "attach/attach.h"

#include "cli/commands.h"

namespace nustream::cli {

Exit attach(const AttachArguments& arguments) {
  if (arguments.min_usable) {
    throw Failure(
        Exit::usage,
        "--min-usable: an attached lane's releases are waited for, and that they do not begin would tell of "
        "its records; look at them beforehand with: nustream check " +
            arguments.config.file + " --data --records 1000 --min-usable SHARE");
  }
  return attach::run(read_config(arguments.config, arguments.kafka), arguments.options);
}

}  // namespace nustream::cli
