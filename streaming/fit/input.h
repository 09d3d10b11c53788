// The file of a fit: how the options say it is read, and the names in its header.
#pragma once

#include <string>

#include "config/input.h"
#include "fit/fit.h"
#include "fit/terms.h"

namespace nustream::fit {

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
