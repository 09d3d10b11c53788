// A release's line as named cells, for programs that read tables.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nustream::csv {

/// Name and text of each cell, in the line's own order. The name is the path: `estimate.temp` for a member of an
/// object, `epsilons.0.delta` for one of an array's element. Numbers as in the line (the shortest text of the same
/// double), text as it is, true, false, and nothing for null.
using Cells = std::vector<std::pair<std::string, std::string>>;

/// Failure(data) where the line is no release and no combined model: not a JSON object with `stream` and `estimate`.
[[nodiscard]] Cells cells_of(std::string_view line);

/// One line by RFC 4180, its newline a single LF: a cell that holds a comma, a quotation mark or the end of a line
/// stands in quotation marks, which are doubled in it.
[[nodiscard]] std::string line_of(const std::vector<std::string>& cells);

}  // namespace nustream::csv
