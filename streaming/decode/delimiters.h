// Looks for the character that divides lines where that of the settings does not. For messages: what it finds is
// proposed to the operator, and no line is read by it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/input.h"

namespace nustream::decode {

/// The character, other than `present`, that divides the line into `columns` fields, or into two or more where
/// `columns` is 0. Each quotation mark has to be closed in front of such a character. Of several characters it is the
/// one that makes the most fields. A space counts only where it makes no empty field, and none that holds `present`.
/// Nothing where there is none.
[[nodiscard]] std::optional<char> other_delimiter(std::string_view line, char present, std::size_t columns = 0);

/// The character, other than `present`, between fields of which one is a name in `wanted`, whole and alone. For a
/// space all of `wanted` have to be there. Nothing where there is none.
[[nodiscard]] std::optional<char> delimiter_between(std::string_view line, char present,
                                                    std::span<const std::string> wanted);

/// The character, other than settings.delimiter, that divides most of the first records of the first file into as
/// many fields as there are columns. Nothing where there is none, and where the file cannot be read twice or is not
/// one of lines of CSV. Throws nothing. It depends on records: it is for the operator alone.
[[nodiscard]] std::optional<char> other_delimiter_of_records(const config::InputSettings& settings);

/// The character as it is typed between quotation marks, such as ";" or "\t".
[[nodiscard]] std::string typed_delimiter(char delimiter);
/// set stream.delimiter = ";". For a space it also says what else R's tables need.
[[nodiscard]] std::string set_delimiter(char delimiter);

}  // namespace nustream::decode
