// The file of a fit before anything of it is read privately, and what its operator is told of it.
#pragma once

#include "error.h"
#include "fit/columns.h"
#include "fit/look.h"
#include "fit/table.h"

namespace nustream::fit {

struct Opened {
  Columns columns;
  FileTable table;
  Look look;
};

/// Reads the whole file. Failures as columns_of() and read_file(), in words of the options; Failure(data) where it
/// holds no records.
[[nodiscard]] Opened open_table(const Options& options);

/// --look: on standard output, marked as not private. Failure as require_usable().
[[nodiscard]] Exit print_look(const Options& options, const Look& look);

/// On standard error, marked as not private: why columns are not in the answer, or why there is none. What was said
/// before the fit is not said again. Never fails: the spend is committed by then.
void say_why_left_out(const Opened& input, const ranges::TableFit& fit);

}  // namespace nustream::fit
