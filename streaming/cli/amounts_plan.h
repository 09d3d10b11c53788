// What a plan says of how much each record counts.
#pragma once

#include <string>

#include "nustream/record/schema.h"

namespace nustream::cli {

/// A line for [weight] and one for [exposure], such as "each record counts as column 'n' says, at most 5 (weight)\n";
/// "" where there is neither.
[[nodiscard]] std::string amounts_text(const record::Schema& schema);

}  // namespace nustream::cli
