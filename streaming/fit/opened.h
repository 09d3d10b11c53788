// The file of a fit before anything of it is read privately, and what the operator is told about it.
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

/// Reads the whole file. Throws as columns_of() and read_file() do, in the words of the options, and Failure(data)
/// where the file holds no records.
[[nodiscard]] Opened open_table(const Options& options);

/// Prints what --look asks for on standard output, marked as not private. Throws as require_usable() does.
[[nodiscard]] Exit print_look(const Options& options, const Look& look);

/// Says on standard error, marked as not private, why columns are not in the answer or why there is no answer. It
/// does not repeat what was said before the fit. It never fails, because the spend is committed by then.
void say_why_left_out(const Opened& input, const ranges::TableFit& fit);

}  // namespace nustream::fit
