// The version of the lines that a stream publishes (docs/formats/releases.md, docs/formats/model.md).
#pragma once

#include <simdjson.h>

namespace nustream::publish {

/// Requires that `line`, a release or a combined model, is of the format that this version reads. A line without the
/// field, as the first versions wrote it, is of format 1. Throws Failure(data) for any other: a reader that guessed
/// would take the fields of a later version for something that they may no longer mean.
void require_known_format(const simdjson::dom::element& line);

}  // namespace nustream::publish
