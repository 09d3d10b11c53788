// What a command line calls a column: its name, or a public map of it.
#pragma once

#include <string>
#include <vector>

#include "nustream/record/schema.h"

namespace nustream::fit {

/// The names of a header, in its order; empty where names are not public (JSON lines).
using Names = std::vector<std::string>;

/// `column`, or a public map of it: log(column), log1p(column), sqrt(column), square(column), hour(column),
/// day_of_week(column), column=text (1 where the field is that text). A name of the header wins over a map that is
/// written alike, and the longest name before a = over shorter ones. Failure(usage) for anything else with brackets.
[[nodiscard]] record::Feature read_term(const std::string& text, const Names& header);

/// Lists with commas, one behind the other, as their entries: blanks around one are dropped, and \, is a comma of a
/// name. A list that is a name of the header as it stands is one entry. Failure(usage) where an entry is empty.
[[nodiscard]] std::vector<std::string> split_list(const std::vector<std::string>& lists, const Names& header,
                                                  const char* option);

}  // namespace nustream::fit
