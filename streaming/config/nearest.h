// Finds the known name that a misspelt name most likely means, or that a reader cannot distinguish from it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nustream::config {

/// The number of insertions, deletions, substitutions and swaps of neighbours, counted in characters, that turn one
/// text into the other.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// " (did you mean 'NAME'?)" for the closest of `known`, or "" where none is close. It is for words that the program
/// knows: half of the letters may differ, and two at least.
[[nodiscard]] std::string did_you_mean(std::string_view name, std::span<const std::string> known);

/// Those of `known` that are closest to `name`, in their order; empty where none is close. It is for names in data,
/// of which a short one is close to nearly any other: a third of the letters may differ, one in names of three to
/// five letters, and none in shorter ones.
[[nodiscard]] std::vector<std::string> closest(std::string_view name, std::span<const std::string> known);

/// " (did you mean 'a', 'b' or 'c'?)" for the first few of the names; "" where there are none.
[[nodiscard]] std::string did_you_mean_one_of(std::span<const std::string> names);

/// `name` without what the eye does not distinguish: characters that are composed otherwise (it is brought to the
/// form NFC), capital letters (by Unicode's case folding), kinds of spaces, characters without width, and white space
/// around the name. Bytes that are not UTF-8 stand for themselves. This is for hints alone: two names with the same
/// result are probably meant to be the same.
[[nodiscard]] std::string folded(std::string_view name);

/// What makes two such names differ, in words, such as "in its capital letters"; "" where folded() gives different
/// results for them, or where they are the same.
[[nodiscard]] std::string difference_unseen(std::string_view name, std::string_view other);

/// " (did you mean 'OTHER'? it differs …: copy it from there)" where difference_unseen() is not ""; else "".
[[nodiscard]] std::string did_you_mean_unseen(std::string_view name, std::string_view other);

}  // namespace nustream::config
