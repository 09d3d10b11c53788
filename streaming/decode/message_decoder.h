// Messages of a log to rows: one row a message, whatever it holds.
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

/// Decodes values as lines of settings.format, by the decoders of recorded files. One thread at a time.
///
/// A value is one record by its length. In CSV, which has no header line here, a line break inside makes it unusable;
/// one at its end is dropped. In JSON a line break is white space. Keys, headers and the time are read beside the
/// value: message_columns.h. docs/formats/input.md has the page.
class MessageDecoder {
 public:
  /// Of `settings`, format, delimiter, columns, time_column and record_bytes_max count. Failure(configuration) where
  /// they contradict each other, lack a column of the schema, or name a part that messages do not have; and where the
  /// target alone is private and is neither the last column of a CSV value nor a header.
  MessageDecoder(const InputSettings& settings, const record::Schema& schema);
  MessageDecoder(const MessageDecoder&) = delete;
  MessageDecoder& operator=(const MessageDecoder&) = delete;

  /// Appends a row for each of `messages`, in their order: the position after it is its offset + 1, its event time
  /// that of the value's time column or, for time_column "@timestamp", the message's own. An unusable message is a
  /// row of zeros, but for public features that its target leaves readable, and a reject at its offset. Copies what
  /// it needs. Failure(data), and no row, where append times are asked for and a message has none.
  void decode(std::span<const Message> messages, record::RowBatch& batch);

  /// Numbers in a row: the schema's dimension.
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
