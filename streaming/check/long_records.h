// What an operator is told of records that go over several lines, where the settings trust that quotation marks are
// closed. It depends on data and is not private.
#pragma once

#include <string>

#include "config/input.h"

namespace nustream::check {

/// A sentence where the longest record holds so many line breaks that it may have taken in records behind it, and
/// always where the file ended inside its quotation mark; else "".
[[nodiscard]] std::string long_record(const config::LongestRecord& longest);

}  // namespace nustream::check
