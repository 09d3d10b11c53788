#include "attach/attach.h"

#include "cli/commands.h"

namespace nustream::cli {

Exit attach(const AttachArguments& arguments) {
  return attach::run(read_config(arguments.config, arguments.kafka), arguments.options);
}

}  // namespace nustream::cli
