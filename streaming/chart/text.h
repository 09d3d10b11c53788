// Charts drawn with letters, for a terminal.
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
  std::size_t rows = 16;  ///< height of the drawing itself, in lines
  bool unicode = true;    ///< else ASCII alone is used
  bool colour = false;    ///< by SGR sequences
};

/// One letter for each value; letters rise from that of the least to that of the largest value. More than `width`
/// values are thinned to `width`, the last one included. A value that is not finite is a blank.
[[nodiscard]] std::string sparkline(std::span<const double> values, std::size_t width, bool unicode);

/// The number of letters (code points) of a text in UTF-8.
[[nodiscard]] std::size_t letters(std::string_view text);
/// The first letters of `text`, at most `width`. A control character becomes a question mark. So does a letter that
/// is not ASCII where `unicode` is false.
[[nodiscard]] std::string fitted(std::string_view text, std::size_t width, bool unicode);

/// The title, the drawing with its axes, and what its letters mean. No line is longer than the style's columns, which
/// count as at least 40. Layers are drawn in their order, each with a letter of its own, so that the drawing can be
/// read without colour.
[[nodiscard]] std::string text_of(const Chart& chart, const TextStyle& style);

}  // namespace nustream::chart
