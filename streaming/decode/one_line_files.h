// Finds those of several files that are one line of another kind, such as a JSON array of many records.
#pragma once

#include <string>

#include "config/input.h"
#include "nustream/record/schema.h"

namespace nustream::decode {

/// A sentence that names the files of `settings` whose content is one line of another kind (other_kind(),
/// one_document()), with what to type. Each of them is read as one record, because another file of the input has
/// records, so that no single record may refuse the input. Returns "" where there is none, and where the input is one
/// file, has headers or holds a segment. The sentence depends on records: it is for the operator alone. It looks at
/// files that can be read twice, and throws nothing.
[[nodiscard]] std::string files_of_one_line(const config::InputSettings& settings, const record::Schema& schema);

}  // namespace nustream::decode
