// Reads a field's text as a number.
#pragma once

#include <optional>
#include <string_view>

namespace nustream::record {

/// The double that is nearest to the decimal number in `text`, ties to even: bit for bit what std::from_chars gives.
///
/// It accepts an optional sign (+ or −), digits with at most one dot (a digit on either side of it), and an optional
/// exponent (e or E, an optional sign, digits), with spaces and tabs around the whole. The result is empty for
/// everything else: no text, nan, inf, hexadecimal, thousands separators, trailing text, and numbers whose nearest
/// double is infinite, or zero although they are not (1e999, 1e-999).
///
/// It needs no locale and allocates nothing.
[[nodiscard]] std::optional<double> parse_number(std::string_view text) noexcept;

}  // namespace nustream::record
