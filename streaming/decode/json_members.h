// The members of a JSON object that something is read from, and where in it they are.
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

/// One member, with the wanted ones inside it.
struct JsonMember {
  std::string key;
  std::optional<std::size_t> place{};   ///< `key` as the place in an array, where it is written as one
  std::vector<std::uint32_t> fields{};  ///< that are read from its value
  bool time = false;                    ///< the record's time is
  bool row = false;                     ///< it is an envelope's row
  bool seen = false;                    ///< in the present record
  std::vector<JsonMember> inside{};
};

/// The way to a column: of one that begins with a slash the members that it names as a JSON pointer (RFC 6901), of
/// another the member of that very name, dots and all. Failure(configuration) for a pointer to the whole record, and
/// for a ~ that is neither ~0 nor ~1.
[[nodiscard]] std::vector<std::string> json_path(const std::string& column);

/// What is wanted of each record, from its top level. Of an envelope a plain name is a member of its row, a pointer
/// still begins at the top. Failures as json_path().
[[nodiscard]] std::vector<JsonMember> json_members(const config::InputSettings& settings,
                                                   std::span<const record::Field> fields);

}  // namespace nustream::decode
