#include "audit/audit.h"

#include "cli/commands.h"

namespace nustream::cli {

Exit audit(const AuditArguments& arguments) {
  const auto& [file, overrides] = arguments.config;
  const config::Purpose purpose = config::purpose_of(file, overrides);
  const config::Config config = config::read_config(file, overrides, purpose);
  require_records(config, "nustream audit");
  return audit::run(config, purpose, arguments.options);
}

}  // namespace nustream::cli
