// Shows one record of each kind that cannot be used, as it stands in its file. It is not private.
#pragma once

#include <map>
#include <string>

#include "check/tally.h"
#include "config/input.h"
#include "decode/seen_lines.h"
#include "nustream/record/schema.h"

namespace nustream::check {

/// For each reason of `tally`: where its first record stands and what is there, such as "line 5: 'NA'", and what to
/// set where the text shows it. Empty where the input cannot be read twice or is not a file of lines. Throws
/// Failure(io) where it cannot be read.
[[nodiscard]] std::map<std::string, std::string> examples_of(const Tally& tally, const config::InputSettings& input,
                                                             const record::Schema& schema);

/// The same of one record, which stands at `place`, such as "line 5".
[[nodiscard]] std::string example_of(const std::string& reason, const std::string& place,
                                     const decode::SeenLine& seen, const config::InputSettings& input,
                                     const record::Schema& schema);

}  // namespace nustream::check
