// Maps the reason that a decoder gave for a reject to the short list of reasons that the operator's counter knows.
#pragma once

#include <string_view>

#include "decode/line_decoder.h"
#include "serve/operator_metrics.h"

namespace nustream::attach {

[[nodiscard]] inline serve::RejectReason reject_reason(std::string_view reason) {
  if (reason == decode::too_long) return serve::RejectReason::too_long;
  if (reason == decode::deleted || reason.find("tombstone") != std::string_view::npos)
    return serve::RejectReason::tombstone;
  if (reason.find("': a user of another lane") != std::string_view::npos) return serve::RejectReason::other_lane;
  if (reason.starts_with("column '")) return serve::RejectReason::unusable_field;
  return serve::RejectReason::malformed;
}

}  // namespace nustream::attach
