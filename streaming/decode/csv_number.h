// Reads a CSV field as a number, in the forms that people write.
#pragma once

#include <string_view>

namespace nustream::decode {

/// The number that record::parse_number reads, with `decimal` ("." or ",") in place of its dot. `true` and `false`
/// are 1 and 0, in small letters, capitals, or with a first capital, and with spaces and tabs around them. Else NaN;
/// where the decimal is a comma, a text with a dot is NaN as well, since the dot may divide thousands.
[[nodiscard]] double read_csv_number(std::string_view text, char decimal);

}  // namespace nustream::decode
