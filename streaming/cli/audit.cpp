#include "audit/audit.h"

#include "cli/commands.h"

namespace nustream::cli {

Exit audit(const AuditArguments& arguments) {
  const auto& [file, overrides] = arguments.config;
  const config::Purpose purpose = config::purpose_of(file, overrides);
  config::Config config = config::read_config(file, overrides, purpose);
  return audit::run(std::move(config), purpose, arguments.options);
}

}  // namespace nustream::cli
