#include "cli/amounts_plan.h"

#include <fmt/format.h>

namespace nustream::cli {

std::string amounts_text(const record::Schema& schema) {
  std::string text;
  if (schema.weight) {
    text += fmt::format("each record counts as column '{}' says, at most {:g} (weight)\n", schema.weight->term.column,
                        schema.weight->most);
  }
  if (schema.exposure) {
    text += fmt::format("each count is over {}column '{}' says, at most {:g} (exposure)\n",
                        schema.exposure->is_log ? "exp of what " : "what ", schema.exposure->term.column,
                        schema.exposure->most);
  }
  return text;
}

}  // namespace nustream::cli
