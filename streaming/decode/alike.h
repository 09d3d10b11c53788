// Finds names that a reader takes for the same although their bytes differ.
#pragma once

#include <string>
#include <string_view>

namespace nustream::decode {

/// `name` without what the eye does not tell apart. Capital letters (of ASCII) become small ones, white space around
/// the name is dropped, a no-break space becomes a space, and characters without width are dropped. An accent is
/// lost, whether it is part of a character or a mark behind a letter. This is for hints alone: two names with the
/// same answer are probably meant for each other.
[[nodiscard]] std::string folded(std::string_view name);

/// What makes two such names differ, in words, as in "in its capital letters"; "" where folded() tells them apart.
[[nodiscard]] std::string difference_unseen(std::string_view name, std::string_view other);

}  // namespace nustream::decode
