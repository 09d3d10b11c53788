// A CSV field's text as a number, as people write them.
#pragma once

#include <string_view>

namespace nustream::decode {

/// What record::parse_number reads, with `decimal` (. or ,) in place of its dot; or 1 and 0 of `true` and `false`, in
/// small letters, capitals, or with a first capital, spaces and tabs around it. Else NaN: where the decimal is a
/// comma, a dot makes a text none, since it may divide thousands.
[[nodiscard]] double read_csv_number(std::string_view text, char decimal);

}  // namespace nustream::decode
