// Finds records of a file in the form in which a person finds them there: by their line, and by the text in it. For
// the operator alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/input.h"

namespace nustream::decode {

struct SeenLine {
  std::string file;
  std::uint64_t line = 0;  ///< from 1; the header and lines above the records count
  std::string text;        ///< the record's text
  std::string header;      ///< the file's header line; empty where it has none
};

/// The records with these ordinals, which increase, as far as the input has them. Returns nothing unless the files
/// are files of lines and can be read twice. Throws Failure(io).
[[nodiscard]] std::map<std::uint64_t, SeenLine> seen_lines(const config::InputSettings& settings,
                                                           std::span<const std::uint64_t> ordinals);

/// The records that a reader keeps from its beginning are no more than these.
inline constexpr std::size_t first_records_max = 20;

/// The text in `column` of the record, byte by byte; empty where nothing stands there.
[[nodiscard]] std::optional<std::string> text_in(const SeenLine& seen, const std::string& column,
                                                 const config::InputSettings& settings);

/// The text on one line, with control characters and bytes that are no characters written as "\f" and "\xe9", and cut
/// where it is long: in the form in which it is shown.
[[nodiscard]] std::string on_one_line(std::string_view text);

/// How many columns the record's file has; empty where its header cannot be divided, and for other formats than CSV.
[[nodiscard]] std::optional<std::size_t> column_count(const SeenLine& seen, const config::InputSettings& settings);

/// How many fields a record has, and how many columns there are.
struct FieldCounts {
  std::size_t fields = 0;
  std::size_t columns = 0;
};
/// The counts for a record of CSV; empty where the record or the header cannot be divided.
[[nodiscard]] std::optional<FieldCounts> field_counts(const SeenLine& seen, const config::InputSettings& settings);

}  // namespace nustream::decode
