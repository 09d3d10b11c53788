// What the terminal behind a stream can show.
#pragma once

#include <cstdio>
#include <string>

#include "chart/text.h"

namespace nustream::console {

/// Finds out what the terminal can show. Columns are those of the terminal, of COLUMNS, or 80. Unicode is shown where
/// the first of LC_ALL, LC_CTYPE and LANG that is set names UTF-8. Colours are shown where the stream is a terminal
/// other than "dumb" and NO_COLOR is not set.
[[nodiscard]] chart::TextStyle style_of(std::FILE* stream);

/// Whether a line can be drawn over again: the stream is a terminal that moves its cursor.
[[nodiscard]] bool can_redraw(std::FILE* stream);

}  // namespace nustream::console
