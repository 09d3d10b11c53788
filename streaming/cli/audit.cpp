#include "audit/audit.h"

#include "cli/commands.h"

namespace nustream::cli {

Exit audit(const AuditArguments& arguments) {
  const auto& [file, overrides] = arguments.config;
  const config::Purpose purpose = config::purpose_of(file, overrides);
  return audit::run(config::read_config(file, overrides, purpose), purpose, arguments.options);
}

}  // namespace nustream::cli
