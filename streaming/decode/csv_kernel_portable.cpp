// The kernel without assumptions about the processor, and the twin that the faster ones are tested against.
#include <limits>

#include "decode/csv_kernel_list.h"
#include "decode/csv_row_cursor.h"
#include "nustream/record/number.h"

namespace nustream::decode {
namespace {

constexpr double unreadable = std::numeric_limits<double>::quiet_NaN();

void index_segment(std::string_view segment, char delimiter, CsvIndex& index) {
  std::size_t separators = 0;
  std::size_t rows = 0;
  std::size_t oddities = 0;
  for (std::size_t i = 0; i < segment.size(); ++i) {
    const char c = segment[i];
    const auto position = static_cast<std::uint32_t>(i);
    // A newline ends a record whatever the delimiter or an open quotation mark says.
    if (c == '\n') index.row_ends[rows++] = static_cast<std::uint32_t>(separators);
    if (c == '\n' || c == delimiter) index.separators[separators++] = position;
    if (c == '"' || c == '\0') index.oddities[oddities++] = position;
  }
  index.separator_count = separators;
  index.row_count = rows;
  index.oddity_count = oddities;
}

void read_numbers(std::string_view segment, const CsvIndex& index, std::size_t rows, const CsvShape& shape,
                  double* readings, RowKind* kinds) {
  const auto read_row = [&](std::size_t row, std::uint32_t begin, const std::uint32_t* separators,
                            std::uint32_t end) {
    for (const NumberColumn& number : shape.numbers) {
      const std::uint32_t field_begin = number.column == 0 ? begin : separators[number.column - 1] + 1;
      const std::uint32_t field_end = number.column + 1 == shape.columns ? end : separators[number.column];
      readings[row * shape.readings + number.reading] =
          record::parse_number(segment.substr(field_begin, field_end - field_begin)).value_or(unreadable);
    }
  };
  for_each_row(segment, index, rows, shape, kinds, read_row);
}

}  // namespace

CsvKernel portable_csv_kernel() {
  return {"portable", index_segment, read_numbers};
}

}  // namespace nustream::decode
