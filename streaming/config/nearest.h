// The known name that a misspelt one most likely meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace nustream::config {

/// Number of insertions, deletions, substitutions and swaps of neighbours between the two.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// " (did you mean 'NAME'?)" for the closest of `known`, or "" where none is close.
[[nodiscard]] std::string did_you_mean(std::string_view name, std::span<const std::string> known);

}  // namespace nustream::config
