// The portable kernel, which works on every processor and against which the faster kernels are tested; and the choice
// of a kernel.
#include <limits>
#include <vector>

#include "decode/csv_kernel.h"
#include "nustream/record/number.h"

namespace nustream::decode {
namespace {

constexpr double unreadable = std::numeric_limits<double>::quiet_NaN();

void index_segment(std::string_view segment, char delimiter, CsvIndex& index) {
  std::size_t separators = 1;
  std::size_t rows = 0;
  std::size_t oddities = 0;
  // The position −1, so that the first field begins at −1 + 1 = 0.
  index.separators[0] = std::numeric_limits<std::uint32_t>::max();
  // Positions are always written, and the counters advance only where a position matters: a branch here could not be
  // predicted.
  for (std::size_t i = 0; i < segment.size(); ++i) {
    const char c = segment[i];
    const auto position = static_cast<std::uint32_t>(i);
    // A newline ends a record, whatever the delimiter is and whether or not a quotation mark is open.
    const bool newline = c == '\n';
    const bool line_end = newline || (c == '\r' && i + 1 < segment.size() && segment[i + 1] == '\n');
    index.row_ends[rows] = static_cast<std::uint32_t>(separators);
    index.separators[separators] = position;
    index.oddities[oddities] = position;
    rows += newline ? 1 : 0;
    separators += line_end || c == delimiter ? 1 : 0;
    oddities += c == '"' || c == '\0' ? 1 : 0;
  }
  index.row_count = rows;
  index.oddity_count = oddities;
}

// Each field by the standard reader of numbers.
void read_numbers(const char* segment, const CsvIndex& index, std::span<const std::uint32_t> rows,
                  std::span<const std::uint32_t> columns, double* numbers) {
  for (const std::uint32_t first : rows) {
    for (const std::uint32_t column : columns) {
      *numbers++ = record::parse_number(field_at(segment, index, first + column)).value_or(unreadable);
    }
  }
}

}  // namespace

CsvKernel portable_csv_kernel() {
  return {"portable", index_segment, read_numbers};
}

std::span<const CsvKernel> csv_kernels() {
  // The processor is asked once. The fastest kernel is last, which make_csv_decoder() takes by default.
  static const std::vector<CsvKernel> kernels = [] {
    std::vector<CsvKernel> available{portable_csv_kernel()};
    for (const auto& kernel : {sse4_csv_kernel(), avx2_csv_kernel(), avx512_csv_kernel()}) {
      if (kernel) available.push_back(*kernel);
    }
    return available;
  }();
  return kernels;
}

}  // namespace nustream::decode
