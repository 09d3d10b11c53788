// What the reader knows of a format: a map from lines to rows.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "config/input.h"
#include "decode/csv_kernel.h"
#include "decode/reader.h"
#include "decode/row_writer.h"
#include "error.h"

namespace nustream::decode {

/// Turns whole lines into rows, one row for each line. Virtual calls are made once for a run of lines, never for each
/// record.
class LineDecoder {
 public:
  virtual ~LineDecoder() = default;

  /// Whether the first line of each file is a header, which has to be given to begin_file().
  [[nodiscard]] virtual bool has_header() const noexcept = 0;
  /// Binds the columns to the header of the file at `path`. Throws Failure(data) where the line is not a header, and
  /// Failure(configuration) where a column is missing in it.
  virtual void begin_file(std::string_view header, const std::string& path) = 0;

  struct Progress {
    std::size_t bytes;  ///< how many bytes of `lines` were used
    std::size_t rows;   ///< how many rows were written, and lines used
  };
  /// Writes the rows of the first lines of `lines`, which holds at least one line; at most `rows_max` (> 0) of them.
  /// Bytes up to LineBuffer::slack beyond either end of `lines` can be read.
  virtual Progress decode(std::string_view lines, std::size_t rows_max, RowWriter& writer) = 0;
  /// Writes the row of a record of which only the beginning can be read, up to a line break or to record_bytes_max
  /// bytes. The row is unusable for `reason`, except public fields that are whole in `begin`. Room for the row was
  /// reserved.
  virtual void decode_cut(std::string_view begin, const char* reason, RowWriter& writer) {
    static_cast<void>(begin);
    writer.write_unusable(reason);
  }
};

/// The target's column where the target alone is private (record::Schema::features_public), else empty. Throws
/// Failure(configuration) where a feature reads that column too, or the target reads a second one.
[[nodiscard]] std::string private_column(const record::Schema& schema);

/// The decoder of settings.format. It hands the readings of `fields`, in their order, to the writer. The fields must
/// outlive it. Throws Failure(configuration) where the settings of the format contradict each other or lack a column.
///
/// `private_column`, unless it is empty, is the one column whose text must not change how any other column is read.
/// It has to be the last of a CSV line: everything after the columns before it is then its text
/// (docs/formats/input.md). Throws Failure(configuration) where it is not the last, or the format is JSON.
[[nodiscard]] std::unique_ptr<LineDecoder> make_line_decoder(const InputSettings& settings,
                                                             std::span<const record::Field> fields,
                                                             const std::string& private_column = {});
/// The decoder of one format; the CSV decoder uses the inner loops of `kernel`.
[[nodiscard]] std::unique_ptr<LineDecoder> make_csv_decoder(const InputSettings& settings,
                                                            std::span<const record::Field> fields,
                                                            const std::string& private_column = {},
                                                            const CsvKernel& kernel = csv_kernels().back());
[[nodiscard]] std::unique_ptr<LineDecoder> make_json_decoder(const InputSettings& settings,
                                                             std::span<const record::Field> fields);

/// The number that the decoder of settings.format reads from a field with the text `text`. In CSV, for example, words
/// for true and false are numbers.
[[nodiscard]] double read_text(const record::Field& field, std::string_view text, const InputSettings& settings);

/// The reason that is given for an envelope without a row, which says that the row was deleted.
inline constexpr const char* deleted = "a delete: the envelope's after is null";
/// The reason that is given for a message without a value, and for a line that stands for one.
inline constexpr const char* tombstone = "the record has no value (a tombstone)";
/// The reason that is given for a record longer than InputSettings::record_bytes_max.
inline constexpr const char* too_long = "the record is longer than record_bytes_max";

/// Requires that the beginning of each file, where it can be read twice, can be read and unpacked, and that each file
/// after the first holds a record, and begins with a header that has the columns, where files have headers. So a run
/// does not step through records before it finds that what follows cannot be read; without a header a record that
/// begins as a compressed file would end it, and tell of that record. `decoder` reads nothing else. Throws
/// Failure(data) for a file without records or without a header, Failure(configuration) for a file without a column,
/// and Failure(io) for one that cannot be read.
void require_files_ahead(const config::InputSettings& settings, LineDecoder& decoder);

/// A hint where a line that is no header begins with a comment sign, as lines above a header may, or where it looks
/// like a title: it holds no character that divides columns, or at least half of its fields, the last one among them,
/// are empty. Else empty.
[[nodiscard]] std::string hint_for_lines_above(std::string_view line, const config::InputSettings& settings);

/// The failure for a file in which nothing is left to read.
[[nodiscard]] Failure empty_file(const std::string& path, const config::InputSettings& settings, bool has_header);

/// Binds the decoder's columns to the header of `path`. Throws as LineDecoder::begin_file(), with a hint where the
/// line begins as comments above a header do.
void begin_file(LineDecoder& decoder, std::string_view header, const std::string& path,
                const config::InputSettings& settings);

}  // namespace nustream::decode
