// `nustream export`: releases as a table for other programs. It reads what is public and spends nothing.
#pragma once

#include <string>

#include "error.h"

namespace nustream::csv {

struct Options {
  std::string place;  ///< a file of releases, one a line; a state folder, for its releases; or "-", standard input
  bool csv = false;   ///< the only format, which has to be asked for by name
};

/// Prints a line of column names, then one line for each release, in the order of the input. The columns are all that
/// any release has, in the order in which they first come. For that a file is read twice, and standard input is kept
/// in memory.
///
/// Throws Failure(io) where nothing can be read, and Failure(data) where a line is no release, with its number, or
/// where the input holds none.
[[nodiscard]] Exit run(const Options& options);

}  // namespace nustream::csv
