// The rows of a file of lines, and what must hold of them whatever the bytes are.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>

#include "decode/file_kind.h"
#include "decode/message_decoder.h"
#include "decode/recorded_reader.h"
#include "decode/segment_format.h"
#include "decode_rows.h"
#include "error.h"
#include "fuzz.h"
#include "nustream/record/schema.h"

namespace nustream::fuzz {

inline record::RowBatch rows_of(std::string_view content, decode::InputSettings settings,
                                const record::Schema& schema, std::size_t rows_max) {
  settings.files = {file_of(content)};
  decode::RecordedReader reader(std::move(settings), schema);
  reader.open();
  record::RowBatch batch;
  while (reader.read(batch, rows_max)) {
  }
  return batch;
}

inline bool same_bits(const std::vector<double>& one, const std::vector<double>& other) {
  return one.size() == other.size() && std::equal(one.begin(), one.end(), other.begin(), [](double a, double b) {
           return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
         });
}

/// Checks that every row is whole and finite, and that the row of an unusable record is all zeros. `first` is the
/// position of the first row.
inline void check_batch(const record::RowBatch& rows, std::uint64_t first) {
  require(rows.x.size() == rows.count() * rows.dimension, "every row is whole");
  require(std::all_of(rows.x.begin(), rows.x.end(), [](double x) { return std::isfinite(x); }), "finite features");
  require(std::all_of(rows.y.begin(), rows.y.end(), [](double y) { return std::isfinite(y); }), "finite targets");
  for (const record::Reject& reject : rows.rejects) {
    const std::size_t row = reject.position.value() - first;
    require(row < rows.count() && rows.y[row] == 0, "an unusable record is a row of zeros");
    for (std::size_t j = 0; j < rows.dimension; ++j) {
      require(rows.x[row * rows.dimension + j] == 0, "an unusable record is a row of zeros");
    }
  }
}

/// Reads the lines as the values of messages: each has to give one row.
inline void check_messages(std::string_view content, decode::MessageDecoder& decoder) {
  decode::MessageBatch batch;
  for (std::uint64_t offset = 0; !content.empty(); ++offset) {
    const std::string_view line = content.substr(0, content.find('\n'));
    batch.add({.offset = offset, .value = line});
    content.remove_prefix(std::min(line.size() + 1, content.size()));
  }
  record::RowBatch rows;
  rows.dimension = decoder.dimension();
  decoder.decode(batch.messages(), rows);
  require(rows.count() == batch.count(), "one row a message");
  check_batch(rows, 0);
}

/// Reads the lines as a file: a record ends at its newline, whatever it holds, and the size of strides does not
/// matter.
inline void check_file(std::string_view content, const decode::InputSettings& settings,
                       const record::Schema& schema) {
  const record::RowBatch rows = rows_of(content, settings, schema, 4096);
  const bool open_end = !content.empty() && content.back() != '\n';
  const auto newlines = static_cast<std::size_t>(std::count(content.begin(), content.end(), '\n'));
  require(rows.count() == newlines + (open_end ? 1 : 0), "a record ends at its newline, and nowhere else");
  check_batch(rows, 0);
  const record::RowBatch again = rows_of(content, settings, schema, 1);
  require(same_bits(rows.x, again.x) && same_bits(rows.y, again.y), "rows do not depend on strides");
}

/// Checks both ways of reading. Files are read for one input in sixteen, because their readers take hundreds of
/// kilobytes.
inline void check_rows(std::string_view content, const decode::InputSettings& settings, const record::Schema& schema,
                       decode::MessageDecoder& decoder) {
  check_messages(content, decoder);
  // The first bytes may say that a file is compressed, an archive, a segment, or of a kind that is refused.
  if (content.empty()) return;
  constexpr std::string_view magics[] = {"\x1f\x8b",
                                         "\x28\xb5\x2f\xfd",
                                         "PK",
                                         "BZh",
                                         "\xfd"
                                         "7zXZ",
                                         decode::segment_magic};
  const bool other = content.substr(1).starts_with("\x2a\x4d\x18") ||
                     std::any_of(std::begin(magics), std::end(magics),
                                 [&](std::string_view magic) { return content.starts_with(magic); }) ||
                     !decode::other_kind({std::string(content), true}, settings, "in").empty();
  if (other || std::hash<std::string_view>{}(content) % 16 != 0) return;
  check_file(content, settings, schema);
}

}  // namespace nustream::fuzz
