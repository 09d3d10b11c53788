#include "publish/reject_lines.h"

#include "publish/json_text.h"

namespace nustream::publish {

void append_reject_lines(std::span<const record::Reject> rejects, std::string& lines) {
  for (const record::Reject& reject : rejects) {
    lines += "{\"position\":";
    append_number(reject.position.value(), lines);
    append_field("reason", reject.reason, lines);
    lines += "}\n";
  }
}

}  // namespace nustream::publish
