// Finds the fields of a CSV line before its last one, whatever the last one holds. It is for lines whose last field
// alone is private.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace nustream::decode {

/// The fields before the last one, and the text of the last one.
struct LeadingFields {
  std::vector<std::string_view> fields;
  std::optional<std::string_view> rest;  ///< empty where the line ends before the delimiter in front of it
};

/// Divides `line`, which has no line end, at its first `count` delimiters, also inside quotation marks. Nothing
/// behind the last of them can therefore change what stands before it. The fields keep their quotation marks.
///
/// Returns what makes the fields unusable, in one line for rejects, or null where nothing does. It looks at no byte
/// of `rest`.
[[nodiscard]] const char* split_leading_fields(std::string_view line, char delimiter, std::size_t count,
                                               LeadingFields& found);

/// The reason that is given for a line with too few fields.
inline constexpr const char* too_few_fields = "fewer fields than columns";

}  // namespace nustream::decode
