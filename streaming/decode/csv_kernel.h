// The inner loops of the CSV decoder: they find the fields of many records at once, and read their numbers.
//
// The portable kernel is the definition. Other kernels are faster on certain processors, and all give the same index
// and the same numbers, bit by bit. They read the common record: it has no quotation marks and as many fields as
// there are columns. Any other record is left to csv_line.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace nustream::decode {

/// How many bytes are indexed at once. With this size the index and the numbers of a segment stay in the first-level
/// cache.
inline constexpr std::size_t segment_bytes_max = std::size_t{1} << 14;

/// Numbers are read in groups of this size, and rows of numbers begin at multiples of it.
inline constexpr std::size_t number_group = 4;

/// Where the fields and the records of a segment end. Positions count bytes from its beginning, and increase.
///
/// Field c of the record whose first separator is entry e begins one byte behind separators[e + c − 1] and ends at
/// separators[e + c]. So entry 0 stands before the first record, at position −1, and the first record's first
/// separator is entry 1.
struct CsvIndex {
  // Kernels may write up to 64 entries beyond the last.
  using Positions = std::array<std::uint32_t, segment_bytes_max + 65>;
  Positions separators;  ///< every delimiter, newline, and carriage return right before a newline
  Positions row_ends;    ///< for every newline, the index of its entry in `separators`
  Positions oddities;    ///< every quotation mark and NUL byte
  std::size_t row_count = 0;
  std::size_t oddity_count = 0;
};

/// Two loops for one kind of processor. Both may read up to 64 bytes beyond either end of a segment.
struct CsvKernel {
  const char* name;
  /// Indexes a segment of at most segment_bytes_max bytes.
  void (*index)(std::string_view segment, char delimiter, CsvIndex& index);
  /// Reads the fields `columns` of rows that are given by their first separators. numbers[r · stride + j] is column
  /// columns[j] of row r as record::parse_number reads it, or NaN where it refuses. The stride is columns.size(), a
  /// multiple of number_group.
  void (*read_numbers)(const char* segment, const CsvIndex& index, std::span<const std::uint32_t> rows,
                       std::span<const std::uint32_t> columns, double* numbers);
};

/// The kernels that this processor can run: the portable one first, the fastest last.
[[nodiscard]] std::span<const CsvKernel> csv_kernels();

/// The field between the entries `separator` − 1 and `separator` of the index.
[[nodiscard]] inline std::string_view field_at(const char* segment, const CsvIndex& index, std::size_t separator) {
  const std::uint32_t begin = index.separators[separator - 1] + 1;  // −1 + 1 wraps to 0
  return {segment + begin, index.separators[separator] - begin};
}

[[nodiscard]] CsvKernel portable_csv_kernel();

// Each is empty where the processor or the compiler's target lacks its instructions.
[[nodiscard]] std::optional<CsvKernel> sse4_csv_kernel();
[[nodiscard]] std::optional<CsvKernel> avx2_csv_kernel();
[[nodiscard]] std::optional<CsvKernel> avx512_csv_kernel();

}  // namespace nustream::decode
