// A field's text as a number.
#pragma once

#include <optional>
#include <string_view>

namespace nustream::record {

/// The double nearest to the decimal number in `text`, ties to even: bit for bit what std::from_chars gives.
///
/// Accepts an optional sign (+ or −), digits with at most one dot (a digit on either side of it), an optional
/// exponent (e or E, an optional sign, digits), with spaces and tabs around the whole. Refuses (empty result)
/// everything else: nothing at all, nan, inf, hexadecimal, thousands separators, trailing text, and numbers
/// whose nearest double is infinite or, unless they are zero, zero (1e999, 1e-999).
///
/// Needs no locale, allocates nothing.
[[nodiscard]] std::optional<double> parse_number(std::string_view text) noexcept;

}  // namespace nustream::record
