// One line for each reject, for example {"position":17,"reason":"column 'x': not a number"}. Reasons name columns,
// and never hold a field's value.
#include "publish/reject_lines.h"

#include "publish/json_writer.h"

namespace nustream::publish {

void append_reject_lines(std::span<const record::Reject> rejects, std::string& lines) {
  JsonWriter json(lines);
  for (const record::Reject& reject : rejects) {
    {
      const auto line = json.object();
      json.field("position", reject.position.value());
      json.field("reason", reject.reason);
    }
    json.end_line();
  }
}

}  // namespace nustream::publish
