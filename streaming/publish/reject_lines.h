// Lines of rejects.jsonl (docs/formats/releases.md): for the operator only.
#pragma once

#include <span>
#include <string>

#include "nustream/record/batch.h"

namespace nustream::publish {

/// One line for each, at the end of `lines`.
void append_reject_lines(std::span<const record::Reject> rejects, std::string& lines);

}  // namespace nustream::publish
