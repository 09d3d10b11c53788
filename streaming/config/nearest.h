// Finds the known name that a misspelt one most likely means.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace nustream::config {

/// The number of insertions, deletions, substitutions and swaps of neighbours that turn one text into the other.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// " (did you mean 'NAME'?)" for the closest of `known`, or "" where none is close.
[[nodiscard]] std::string did_you_mean(std::string_view name, std::span<const std::string> known);

}  // namespace nustream::config
