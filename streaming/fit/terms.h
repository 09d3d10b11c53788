// What the command line calls a column: its name, or a public map of it.
#pragma once

#include <string>
#include <vector>

#include "nustream/record/schema.h"

namespace nustream::fit {

/// The names of a header, in its order; empty where names are not public (JSON lines).
using Names = std::vector<std::string>;

/// Reads `column` or a public map of it: log(column), log1p(column), sqrt(column), square(column), hour(column),
/// day_of_week(column), or column=text, which is 1 where the field is that text. A name of the header wins over a map
/// that is written alike, and before "=" the longest name wins. Throws Failure(usage) for any other text with
/// brackets.
[[nodiscard]] record::Feature read_term(const std::string& text, const Names& header);

/// The entries of all lists, whose entries are separated by commas. Blanks around an entry are dropped, and "\,"
/// stands for a comma within a name. A list that as a whole is a name of the header is one entry. Throws
/// Failure(usage) where an entry is empty.
[[nodiscard]] std::vector<std::string> split_list(const std::vector<std::string>& lists, const Names& header,
                                                  const char* option);

}  // namespace nustream::fit
