// Looks at the files of an input that come later, before a record of the first one is read.
#pragma once

#include <string>
#include <string_view>

#include "config/input.h"
#include "decode/line_decoder.h"
#include "error.h"

namespace nustream::decode {

/// Requires that each file behind the first, where it can be read twice, holds a record, and begins with a header
/// that has the columns where there is one. So a run does not step through one file before it finds that the next one
/// cannot be read. `decoder` is one that reads nothing else. Throws Failure(data) for a file without records or
/// without a header, and Failure(configuration) for one without a column.
void require_files_ahead(const config::InputSettings& settings, LineDecoder& decoder);

/// A hint where a line that is no header begins as comments above a header do; else empty.
[[nodiscard]] std::string hint_for_lines_above(std::string_view line, const config::InputSettings& settings);

/// The failure for a file in which nothing is left to read.
[[nodiscard]] Failure empty_file(const std::string& path, const config::InputSettings& settings, bool has_header);

/// Binds the decoder's columns to the header of `path`. Throws as LineDecoder::begin_file(), with a hint where the
/// line begins as comments above a header do.
void begin_file(LineDecoder& decoder, std::string_view header, const std::string& path,
                const config::InputSettings& settings);

}  // namespace nustream::decode
