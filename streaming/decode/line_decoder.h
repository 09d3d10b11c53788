// What a format is to the reader: a map from lines to rows.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "decode/csv_kernel.h"
#include "decode/reader.h"
#include "decode/row_writer.h"

namespace nustream::decode {

/// Turns whole lines into rows, one row a line. The virtual calls are once a run of lines, never once a record.
class LineDecoder {
 public:
  virtual ~LineDecoder() = default;

  /// Whether the first line of each file is a header, to be given to begin_file().
  [[nodiscard]] virtual bool has_header() const noexcept = 0;
  /// Binds the columns to the header of the file at `path`. Failure(data) where it is none,
  /// Failure(configuration) where a column is not in it.
  virtual void begin_file(std::string_view header, const std::string& path) = 0;

  struct Progress {
    std::size_t bytes;  ///< of `lines` that were used
    std::size_t rows;   ///< written, and lines used
  };
  /// Writes the rows of the first lines of `lines`, which holds at least one, at most `rows_max` (> 0) of them.
  /// Bytes up to LineBuffer::slack beyond either end of `lines` are readable.
  virtual Progress decode(std::string_view lines, std::size_t rows_max, RowWriter& writer) = 0;
  /// Writes the row of a record of which only the beginning can be read, up to a line break or to record_bytes_max
  /// bytes: unusable for `reason`, but for public fields that are all in `begin`. Room for it was reserved.
  virtual void decode_cut(std::string_view begin, const char* reason, RowWriter& writer) {
    static_cast<void>(begin);
    writer.write_unusable(reason);
  }
};

/// The target's column where the target alone is private (record::Schema::features_public), else empty.
/// Failure(configuration) where a feature reads it too, or the target reads a second one.
[[nodiscard]] std::string private_column(const record::Schema& schema);

/// The decoder of settings.format, which hands the readings of `fields`, in their order, to the writer. The fields
/// must outlive it. Failure(configuration) where the settings of the format contradict each other or lack a column.
///
/// `private_column`, unless empty, is the one column whose text must not change how any other is read: the last of a
/// CSV line, so that everything behind the columns before it is its text (docs/formats/input.md).
/// Failure(configuration) where it is not the last, or in JSON.
[[nodiscard]] std::unique_ptr<LineDecoder> make_line_decoder(const InputSettings& settings,
                                                             std::span<const record::Field> fields,
                                                             const std::string& private_column = {});
/// The same for one format; of CSV with the inner loops of `kernel`.
[[nodiscard]] std::unique_ptr<LineDecoder> make_csv_decoder(const InputSettings& settings,
                                                            std::span<const record::Field> fields,
                                                            const std::string& private_column = {},
                                                            const CsvKernel& kernel = csv_kernels().back());
[[nodiscard]] std::unique_ptr<LineDecoder> make_json_decoder(const InputSettings& settings,
                                                             std::span<const record::Field> fields);

/// The reason given for an envelope without a row: what it says is that the row was deleted.
inline constexpr const char* deleted = "a delete: the envelope's after is null";
/// The reason given for a record longer than InputSettings::record_bytes_max.
inline constexpr const char* too_long = "the record is longer than record_bytes_max";

}  // namespace nustream::decode
