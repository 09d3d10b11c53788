// `nustream export`: releases as a table for other programs. Reads what is public, and spends nothing.
#pragma once

#include <string>

#include "error.h"

namespace nustream::csv {

struct Options {
  std::string place;  ///< file of releases, one a line; a state folder, whose releases are meant; "-": standard input
  bool csv = false;   ///< the one format that there is, asked for by name
};

/// Prints a line of column names, then a line a release, in the order of the input. Columns are all that any release
/// has, in the order in which they are first met: a file is read twice, standard input is kept in memory.
///
/// Failure(io) where nothing can be read, Failure(data) with the line where one is no release, or there is none.
[[nodiscard]] Exit run(const Options& options);

}  // namespace nustream::csv
