// What to set where the lines of records hint at the reason why they cannot be read. Texts of records are looked at,
// so that all of it is for the operator alone.
#pragma once

#include <string>

#include "check/tally.h"
#include "config/input.h"
#include "decode/seen_lines.h"

namespace nustream::check {

/// What to set where the line of one record that was refused for `reason` gives a hint, such as
/// "; set stream.delimiter = ";""; else "".
[[nodiscard]] std::string advice_on_line(const std::string& reason, const decode::SeenLine& seen,
                                         const config::InputSettings& input);

/// What to write otherwise where all records have more fields than there are columns, as this one does, and no other
/// character divides them: a delimiter at the ends of lines, row names of R's, decimal commas; else "".
[[nodiscard]] std::string advice_on_fields(const decode::SeenLine& seen, const config::InputSettings& input);

/// Both of these for the most frequent reason of many records, whose beginning is read once more where that can be
/// done. A delimiter is doubted only where no record could be used. Throws nothing.
[[nodiscard]] std::string advice_on_lines(const Tally& tally, const config::InputSettings& input);

}  // namespace nustream::check
