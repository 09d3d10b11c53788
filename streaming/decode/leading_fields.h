// The fields of a CSV line before its last one, whatever that holds: for lines whose last field alone is private.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace nustream::decode {

/// What a line holds before the text of its last field, and that text.
struct LeadingFields {
  std::vector<std::string_view> fields;
  std::optional<std::string_view> rest;  ///< empty where the line ends before the delimiter that it would follow
};

/// Divides `line`, which has no line end, at its first `count` delimiters, inside quotation marks too: so nothing
/// behind the last of them can change what stands before it. Quotation marks of the fields are left on.
///
/// Returns what makes the fields unusable, one line for rejects; null where nothing does. Looks at no byte of `rest`.
[[nodiscard]] const char* split_leading_fields(std::string_view line, char delimiter, std::size_t count,
                                               LeadingFields& found);

/// The reason given for a line with too few fields.
inline constexpr const char* too_few_fields = "fewer fields than columns";

}  // namespace nustream::decode
