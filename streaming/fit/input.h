// The file of a fit: how the options say it is read, the names in its header, and what the command line calls a
// column.
#pragma once

#include <string>
#include <vector>

#include "config/input.h"
#include "fit/fit.h"
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

/// [stream] as the options describe it. A file name that ends in .tsv means tabs. Throws Failure(usage) for standard
/// input, Failure(io) for a pipe, and Failure(configuration) for an option that [stream] would refuse.
[[nodiscard]] config::InputSettings input_of(const Options& options);

/// The public names of the columns. JSON lines and segments have none but those of --columns. Throws Failure(data)
/// where the file is not what the options say, or has no header, and Failure(configuration) where its lines hold
/// another delimiter.
[[nodiscard]] Names names_of(const config::InputSettings& input);

/// The first line after those that are skipped: the header of a CSV, unless it has none. Throws Failure(data) where
/// there is no line.
[[nodiscard]] std::string first_line(const config::InputSettings& input);

/// A message about settings with options in place of keys, such as --skip-lines 1 for stream.skip_lines = 1.
[[nodiscard]] std::string in_options(std::string message);

}  // namespace nustream::fit
