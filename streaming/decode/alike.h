// Names that a reader takes for the same although their bytes differ.
#pragma once

#include <string>
#include <string_view>

namespace nustream::decode {

/// `name` without what the eye does not tell apart: capital letters (of ASCII), white space around it and its kind
/// (a no-break space is a space), characters without width, and how an accent is written (as one character or as a
/// letter with a mark behind it; which accent it is is lost too). For hints alone: two names with the same answer are
/// probably meant for each other.
[[nodiscard]] std::string folded(std::string_view name);

/// "" where folded() tells the names apart; else what makes them differ, in words: "in its capital letters", ….
[[nodiscard]] std::string difference_unseen(std::string_view name, std::string_view other);

}  // namespace nustream::decode
