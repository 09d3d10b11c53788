// The members of a JSON object that values are read from, and where they are in the object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/input.h"
#include "nustream/record/row.h"

namespace nustream::decode {

/// One member, with the members inside it that are wanted.
struct JsonMember {
  std::string key;
  std::optional<std::size_t> place{};   ///< `key` as a place in an array, where it has the form of one
  std::vector<std::uint32_t> fields{};  ///< fields that are read from its value
  bool time = false;                    ///< the record's time is read from it
  bool row = false;                     ///< it is the row of an envelope
  bool seen = false;                    ///< it came already in the present record
  std::vector<JsonMember> inside{};
};

/// The path to a column. A column that begins with a slash is a JSON pointer (RFC 6901) and names a member at each
/// step. Any other column is the member of that very name, dots included. Throws Failure(configuration) for a pointer
/// to the whole record, and for a "~" that is neither "~0" nor "~1".
[[nodiscard]] std::vector<std::string> json_path(const std::string& column);

/// The members that are wanted of each record, from its top level. With an envelope, a plain name is a member of its
/// row, while a pointer still begins at the top. Throws as json_path() does.
[[nodiscard]] std::vector<JsonMember> json_members(const config::InputSettings& settings,
                                                   std::span<const record::Field> fields);

/// Copies `text` to `out` and replaces each byte that belongs to no character (RFC 3629) by a control character,
/// which no name and no number holds. As many bytes come out as went in.
void copy_as_utf8(std::string_view text, std::string& out);

/// The text with U+FFFD in place of each byte that belongs to no character: what texts of data have to be in the JSON
/// that is written.
[[nodiscard]] std::string as_utf8(std::string_view text);

}  // namespace nustream::decode
