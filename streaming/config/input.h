// [stream]: where records come from, how they are framed, and the names of what stands beside a message's value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nustream/record/timestamp.h"

namespace nustream::config {

enum class Format { csv, json_lines };

/// What stands around the row that a record is about.
enum class Envelope {
  none,
  debezium,  ///< {"before", "after", "op", …}, itself perhaps the payload of {"schema", "payload"}: the row is after
};

/// Where records come from and how they are framed. In a file of lines a record ends at its newline whatever it
/// holds; in a segment (docs/formats/segment.md), which is told by its first bytes, each value is a record.
struct InputSettings {
  std::vector<std::string> files{};  ///< read one after the other; "-" is standard input; compressed ones by magic
  Format format = Format::csv;       ///< of lines, and of the values of messages
  char delimiter = ',';
  bool header = true;                  ///< CSV: the first line of each file names the columns
  std::vector<std::string> columns{};  ///< CSV without a header, and values of messages: their names
  char decimal = '.';                  ///< CSV: what stands before the fraction of a number: . or ,
  std::uint64_t skip_lines = 0;        ///< of each file, before its header: no records, whatever they hold
  std::string comment{};               ///< CSV: lines right above the header that begin with it are no records
  std::string time_column{};           ///< for --speed and starts by time; of messages "@timestamp" too
  record::TimeUnit time_unit = record::TimeUnit::seconds;  ///< of plain numbers in time_column
  Envelope envelope = Envelope::none;                      ///< JSON: what a value wraps its row in
  bool times_public = false;                 ///< the settings declare producer times public (privacy: rule 2)
  std::uint64_t from = 0;                    ///< ordinal of the first record to read; of a segment its offset
  std::optional<std::uint64_t> to{};         ///< ordinal or offset to stop before
  std::optional<std::uint32_t> partition{};  ///< a segment of another one is refused; empty: none is
  std::size_t record_bytes_max = 1 << 20;    ///< a longer record is unusable; it never takes more memory
  bool append_times_only = false;            ///< a message whose time is not the broker's is refused
  /// Line breaks inside quotation marks belong to their record. Then an open quote spoils the records behind it too.
  bool framing_is_trusted = false;
  bool may_show_header = false;  ///< a message may show a first line that lacks a column, whatever it is
};

/// The key.
inline constexpr std::string_view key_column = "@key";
/// A header, its name behind the colon.
inline constexpr std::string_view header_prefix = "@header:";
/// The message's own time: for InputSettings::time_column alone.
inline constexpr std::string_view timestamp_column = "@timestamp";

/// Whether a record that cannot be read hides its time too: any fault of a JSON line does, and an open quote where
/// line breaks inside quotation marks belong to a record. Of other CSV the decoder demands that the time stands
/// first.
[[nodiscard]] inline bool hides_times(const InputSettings& input) {
  if (input.time_column == timestamp_column) return false;
  return input.format == Format::json_lines || input.framing_is_trusted;
}
inline constexpr const char* public_times_wanted =
    "only for CSV with framing = \"newline\", whose first column the time has to be, or with time = \"@timestamp\": "
    "a "
    "fault of a JSON line, or an open quote, hides the time, and one such record would move the window of every user";

}  // namespace nustream::config
