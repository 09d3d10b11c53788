// The file of a fit: how it is read, as the command line says it, and the names in its header.
#pragma once

#include <string>

#include "config/input.h"
#include "fit/fit.h"
#include "fit/terms.h"

namespace nustream::fit {

/// [stream] as the options say it. A name that ends in .tsv stands for tabs. Failure(usage) for standard input,
/// Failure(io) for a pipe, Failure(configuration) for an option that [stream] would refuse.
[[nodiscard]] config::InputSettings input_of(const Options& options);

/// The public names of the columns; of JSON lines and segments there are none, but those of --columns. Failure(data)
/// where the file is something else than the options say, or has no header; Failure(configuration) where its lines
/// hold another delimiter.
[[nodiscard]] Names names_of(const config::InputSettings& input);

/// The first line behind those that are passed: of CSV its header, unless it has none. Failure(data) where there is
/// none.
[[nodiscard]] std::string first_line(const config::InputSettings& input);

/// A message about settings with the options in their place: stream.skip_lines = 1 as --skip-lines 1.
[[nodiscard]] std::string in_options(std::string message);

}  // namespace nustream::fit
