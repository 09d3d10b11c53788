// `nustream export`: releases as a table for other programs. It reads what is public and spends nothing.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "error.h"

namespace nustream::csv {

struct Options {
  std::string place;  ///< a file of releases, one a line; a state folder, for its releases; or "-", standard input
  bool csv = false;   ///< the only format, which has to be asked for by name
};

/// Prints a line of column names, then one line for each release, in the order of the input. The columns are all that
/// any release has, in the order of their first appearance. So a file is read twice, and standard input is kept in
/// memory.
///
/// Throws Failure(io) where nothing can be read, and Failure(data) where a line is no release, with its number, or
/// where the input holds none.
[[nodiscard]] Exit run(const Options& options);

/// The name and the text of each cell, in the order of the line. A name is a path: `estimate.temp` for a member of an
/// object, `epsilons.0.delta` for a member of an array's element. Numbers stand as in the line (the shortest text of
/// the same double), and so do texts; true and false are words, and null is an empty text.
using Cells = std::vector<std::pair<std::string, std::string>>;

/// Throws Failure(data) where the line is neither a release nor a combined model, that is, not a JSON object with
/// `stream` and `estimate`.
[[nodiscard]] Cells cells_of(std::string_view line);

/// One line by RFC 4180, but ended by a single LF. A cell that holds a comma, a quotation mark or a line end stands
/// in quotation marks, and quotation marks in it are doubled.
[[nodiscard]] std::string line_of(const std::vector<std::string>& cells);

}  // namespace nustream::csv
