// What the terminal behind a stream can show.
#pragma once

#include <cstdio>
#include <string>

#include "chart/text.h"

namespace nustream::console {

/// Columns of the terminal, or of COLUMNS, or 80; Unicode where LC_ALL, LC_CTYPE or LANG, the first of them that is
/// set, names UTF-8; colours where the stream is a terminal other than "dumb" and NO_COLOR is not set.
[[nodiscard]] chart::TextStyle style_of(std::FILE* stream);

/// Whether a line can be drawn over and over there: a terminal that moves its cursor.
[[nodiscard]] bool can_redraw(std::FILE* stream);

}  // namespace nustream::console
