#include "audit/audit.h"

#include "cli/commands.h"

namespace nustream::cli {

Exit audit(const AuditArguments& arguments) {
  return audit::run(config::read_config(arguments.config.file, arguments.config.overrides), arguments.options);
}

}  // namespace nustream::cli
