// Lines of rejects.jsonl (docs/formats/releases.md), which are for the operator only.
#pragma once

#include <span>
#include <string>

#include "nustream/record/batch.h"

namespace nustream::publish {

/// Appends one line for each reject to `lines`.
void append_reject_lines(std::span<const record::Reject> rejects, std::string& lines);

}  // namespace nustream::publish
