// Writes the numbers of a TOML text as people write them.
#pragma once

#include <string>
#include <string_view>

namespace nustream::config {

/// `toml` with each number of more than 16 characters replaced by the shortest text that reads as the same number:
/// 1e-06, not 9.9999999999999995e-07. What stands in quotes stays as it is. Contract: `toml` was written by a printer
/// and has no comments.
[[nodiscard]] std::string with_short_numbers(std::string_view toml);

}  // namespace nustream::config
