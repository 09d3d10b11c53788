// [stream]: where records come from, how they are framed, and the names of what comes beside a message's value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/format.h"
#include "nustream/record/timestamp.h"

namespace nustream::config {

/// What stands around the row that a record is about.
enum class Envelope {
  none,
  debezium,  ///< {"before", "after", "op", …}, perhaps as the payload of {"schema", "payload"}; the row is "after"
};

/// The record that goes over the most lines, where line breaks inside quotation marks belong to their record. It
/// depends on data, and is for the operator alone.
struct LongestRecord {
  std::string file{};
  std::uint64_t line = 0;    ///< at which the record begins, from 1
  std::uint64_t breaks = 0;  ///< line feeds inside its quotation marks; 0: no record goes over several lines
  bool is_open = false;      ///< the file ended inside a quotation mark of this record
};

/// Where records come from and how they are framed. In a file of lines a record ends at its newline, whatever it
/// holds. In a segment (docs/formats/segment.md), which is recognised by its first bytes, each value is a record.
struct InputSettings {
  /// Read one after the other, "-" is standard input; compressed files are recognised by their first bytes.
  std::vector<std::string> files{};
  Format format = Format::csv;  ///< of lines, and of messages' values
  char delimiter = ',';
  bool header = true;                  ///< CSV: the first line of each file names the columns
  std::vector<std::string> columns{};  ///< names of the columns, for a CSV without a header and for messages' values
  char decimal = '.';                  ///< CSV: the character before the fraction of a number, "." or ","
  std::uint64_t skip_lines = 0;        ///< at the beginning of each file, before its header; they are no records
  std::string comment{};               ///< CSV: lines right above the header that begin with it are no records
  std::string time_column{};           ///< for --speed and starts by time; for messages it may be "@timestamp"
  record::TimeUnit time_unit = record::TimeUnit::seconds;  ///< of plain numbers in time_column
  Envelope envelope = Envelope::none;                      ///< JSON: what a value wraps its row in
  bool times_public = false;                               ///< the settings declare the producers' times public
  std::uint64_t from = 0;                    ///< ordinal of the first record to read; for a segment its offset
  std::optional<std::uint64_t> to{};         ///< ordinal or offset at which to stop
  std::optional<std::uint32_t> partition{};  ///< the partition that a segment has to be of; empty: any
  std::size_t record_bytes_max = 1 << 20;    ///< a longer record is unusable, and never takes more memory
  bool append_times_only = false;            ///< refuse a message whose time is not the broker's
  /// Line breaks inside quotation marks belong to their record. An open quote then spoils the records after it too.
  bool framing_is_trusted = false;
  /// The command that shows an operator more of these records (config/typed.h). Messages name it.
  std::string look = "nustream check CONFIG --data";
  bool may_show_header = false;  ///< an error message may quote a first line that lacks a column
  /// The readers note there what they find where framing_is_trusted; null: nobody asks.
  std::shared_ptr<LongestRecord> longest{};
};

/// The column that is a message's key.
inline constexpr std::string_view key_column = "@key";
/// Begins the column that is a message's header; the header's name follows.
inline constexpr std::string_view header_prefix = "@header:";
/// The column that is a message's own time; only for InputSettings::time_column.
inline constexpr std::string_view timestamp_column = "@timestamp";

/// FormatTraits::has_columns of the input's format.
[[nodiscard]] inline bool has_columns(const InputSettings& input) noexcept {
  return traits_of(input.format).has_columns;
}
/// FormatTraits::has_members of the input's format.
[[nodiscard]] inline bool has_members(const InputSettings& input) noexcept {
  return traits_of(input.format).has_members;
}
/// Whether the first line of a file is no record but names the columns, and so is public.
[[nodiscard]] inline bool has_header(const InputSettings& input) noexcept {
  return has_columns(input) && input.header;
}

/// Whether a record that cannot be read hides its time as well. Any fault of a JSON line does, and so does an open
/// quote where line breaks inside quotation marks belong to a record. In other CSV the decoder demands that the time
/// comes first, so that a fault comes after the time and does not hide it.
[[nodiscard]] inline bool hides_times(const InputSettings& input) {
  if (input.time_column == timestamp_column) return false;
  return !has_columns(input) || input.framing_is_trusted;
}
inline constexpr const char* public_times_wanted =
    "only for CSV with framing = \"newline\", whose first column the time has to be, or with time = \"@timestamp\": "
    "a "
    "fault of a JSON line, or an open quote, hides the time, and one such record would move the window of every user";

}  // namespace nustream::config
