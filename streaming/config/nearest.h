// Finds the known name that a misspelt name most likely means, or that a reader cannot distinguish from it.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace nustream::config {

/// The number of insertions, deletions, substitutions and swaps of neighbours that turn one text into the other.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// " (did you mean 'NAME'?)" for the closest of `known`, or "" where none is close.
[[nodiscard]] std::string did_you_mean(std::string_view name, std::span<const std::string> known);

/// `name` without what the eye does not distinguish. Capital letters (of ASCII) become small ones, white space around
/// the name is dropped, a no-break space becomes a space, and characters without width are dropped. An accent is
/// lost, whether it is part of a character or a mark after a letter. This is for hints alone: two names with the same
/// result are probably meant to be the same.
[[nodiscard]] std::string folded(std::string_view name);

/// What makes two such names differ, in words, such as "in its capital letters"; "" where folded() gives different
/// results for them.
[[nodiscard]] std::string difference_unseen(std::string_view name, std::string_view other);

}  // namespace nustream::config
