// Walks the rows of an indexed segment: what the kernels have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "decode/csv_kernel.h"

namespace nustream::decode {

/// Calls `plain(row, begin, separators, end)` for every plain row among the first `rows`: the row is at
/// [begin, end) of the segment without its line end, and separators[c] is where its field c ends, but for the last
/// field, which ends at `end`.
template <class Plain>
inline __attribute__((always_inline)) void for_each_row(std::string_view segment, const CsvIndex& index,
                                                        std::size_t rows, const CsvShape& shape, RowKind* kinds,
                                                        Plain&& plain) {
  const char* const data = segment.data();
  std::size_t oddity = 0;
  std::uint32_t begin = 0;
  std::uint32_t first_separator = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::uint32_t last_separator = index.row_ends[row];
    const std::uint32_t newline = index.separators[last_separator];
    bool odd = last_separator - first_separator + 1 != shape.columns || newline - begin > shape.line_bytes_max;
    while (oddity < index.oddity_count && index.oddities[oddity] < newline) {
      odd = true;
      ++oddity;
    }
    const std::uint32_t end = newline - ((newline != begin && data[newline - 1] == '\r') ? 1 : 0);
    odd |= end == begin;
    kinds[row] = odd ? RowKind::odd : RowKind::plain;
    if (!odd) plain(row, begin, index.separators.data() + first_separator, end);
    begin = newline + 1;
    first_separator = last_separator + 1;
  }
}

}  // namespace nustream::decode
