// Charts in letters, for a terminal.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "chart/chart.h"

namespace nustream::chart {

/// What a terminal can show.
struct TextStyle {
  std::size_t columns = 80;
  std::size_t rows = 16;  ///< of the drawing itself
  bool unicode = true;    ///< else ASCII alone
  bool colour = false;    ///< by SGR sequences
};

/// One letter a value, from the least to the largest of them; the last `width` of a longer one, thinned to that. What
/// is not finite is a blank.
[[nodiscard]] std::string sparkline(std::span<const double> values, std::size_t width, bool unicode);

/// Letters, of UTF-8.
[[nodiscard]] std::size_t letters(std::string_view text);
/// At most so many letters of `text`; the rest is cut off. A control character is a question mark, and so is what is
/// not ASCII where there is no Unicode.
[[nodiscard]] std::string fitted(std::string_view text, std::size_t width, bool unicode);

/// Title, drawing with its axes, and what its letters mean; no line is longer than the style's columns, which are
/// taken to be at least 40. Layers are drawn in their order; each has a letter of its own, so that it needs no
/// colour.
[[nodiscard]] std::string text_of(const Chart& chart, const TextStyle& style);

}  // namespace nustream::chart
