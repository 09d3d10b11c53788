// Turns messages of a log into rows: one row for each message, whatever it holds.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "decode/line_decoder.h"
#include "decode/merged_readings.h"
#include "decode/message.h"
#include "decode/message_columns.h"
#include "decode/message_lines.h"
#include "decode/reader.h"
#include "nustream/record/batch.h"
#include "nustream/record/row.h"

namespace nustream::decode {

/// Decodes values as lines of settings.format, by the decoders of recorded files. To be used by one thread at a time.
///
/// A value is one record, whatever its length. In CSV, which has no header line here, a line break inside makes it
/// unusable, and a line break at its end is dropped. In JSON a line break is white space. Keys, headers and the time
/// are read beside the value (message_columns.h). docs/formats/input.md describes all of this.
class MessageDecoder {
 public:
  /// Uses format, delimiter, columns, time_column and record_bytes_max of `settings`. Throws Failure(configuration)
  /// where they contradict each other, lack a column of the schema, or name a part that messages do not have. It also
  /// throws where the target alone is private and is neither the last column of a CSV value nor a header.
  MessageDecoder(const InputSettings& settings, const record::Schema& schema);
  MessageDecoder(const MessageDecoder&) = delete;
  MessageDecoder& operator=(const MessageDecoder&) = delete;

  /// Appends a row for each of `messages`, in their order. The position after a row is its message's offset + 1. Its
  /// event time is that of the value's time column, or the message's own for time_column "@timestamp". An unusable
  /// message becomes a row of zeros, except public features that its target leaves readable, and a reject at its
  /// offset. Copies what it needs. Throws Failure(data), and appends no row, where append times are asked for and a
  /// message has none.
  void decode(std::span<const Message> messages, record::RowBatch& batch);

  /// The number of numbers in a row: the schema's dimension.
  [[nodiscard]] std::size_t dimension() const noexcept { return builder_.dimension(); }

 private:
  [[nodiscard]] const char* add_line(const Message& message);
  [[nodiscard]] std::string_view beginning_of(const Message& message) const;
  void decode_lines(RowWriter& writer);

  record::RowBuilder builder_;
  MessageColumns columns_;
  bool times_from_messages_;
  bool append_times_only_;
  bool times_from_values_;
  bool line_breaks_divide_;
  std::size_t value_bytes_max_;
  std::unique_ptr<LineDecoder> decoder_;
  MessageLines lines_;
  MergedReadings readings_;
};

}  // namespace nustream::decode
