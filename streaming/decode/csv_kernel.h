// The inner loops of the CSV decoder: find the fields of many records at once, and read their numbers.
//
// One definition (the portable kernel) and faster ones for what the processor offers; all give the same index and
// the same numbers, bit by bit. They take the common case: a record without quotation marks and with as many
// fields as columns. Any other record is marked and left to csv_line.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace nustream::decode {

/// Bytes that are indexed at once.
inline constexpr std::size_t segment_bytes_max = std::size_t{1} << 14;

/// Where the fields and the records of a segment end. Positions are bytes from its beginning, increasing.
struct CsvIndex {
  // Kernels may write up to 64 entries beyond the last.
  using Positions = std::array<std::uint32_t, segment_bytes_max + 64>;
  Positions separators;  ///< every delimiter and newline
  Positions row_ends;    ///< for every newline, which entry of `separators` it is
  Positions oddities;    ///< every quotation mark and NUL byte
  std::size_t separator_count = 0;
  std::size_t row_count = 0;
  std::size_t oddity_count = 0;
};

/// A column whose fields are numbers, and where in a record's readings the number goes.
struct NumberColumn {
  std::uint32_t column;
  std::uint32_t reading;
};

/// What every record of a file should look like, and what is wanted of it.
struct CsvShape {
  char delimiter = ',';
  std::uint32_t columns = 0;       ///< fields in a record, at least 1
  std::size_t line_bytes_max = 0;  ///< bytes in a record, its newline not counted
  std::span<const NumberColumn> numbers;
  std::size_t readings = 0;  ///< in a record
};

/// What the row of a segment turned out to be.
enum class RowKind : std::uint8_t {
  plain,  ///< its numbers are read
  odd,    ///< another number of fields, a quotation mark, a NUL byte, empty or too long: not looked at
};

/// A pair of loops, for one kind of processor.
struct CsvKernel {
  const char* name;
  /// Indexes a segment of at most segment_bytes_max bytes. Up to 64 bytes behind it are read.
  void (*index)(std::string_view segment, char delimiter, CsvIndex& index);
  /// For the first `rows` rows of an indexed segment: their kinds and, where plain, their numbers
  /// (readings[row · shape.readings + reading]), NaN where a field is none. A carriage return before the newline
  /// is no part of the record. Up to 64 bytes before the segment are read.
  void (*read_numbers)(std::string_view segment, const CsvIndex& index, std::size_t rows, const CsvShape& shape,
                       double* readings, RowKind* kinds);
};

/// The kernels that this processor can run, the portable one first, the fastest last.
[[nodiscard]] std::span<const CsvKernel> csv_kernels();

}  // namespace nustream::decode
