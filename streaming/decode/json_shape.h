// What a line of text looks like as JSON, by its ends and brackets alone.
#pragma once

#include <string_view>

namespace nustream::decode {

/// The text without the spaces, tabs and line ends around it.
[[nodiscard]] std::string_view trimmed(std::string_view text);

// Each of the following takes a trimmed text.

/// Whether the text has the ends of an object.
[[nodiscard]] bool looks_like_object(std::string_view text);
/// Whether the text begins an object with its first member.
[[nodiscard]] bool begins_an_object(std::string_view text);
/// Whether the text begins an array of objects. No record of CSV begins so, with or without a header.
[[nodiscard]] bool begins_an_array_of_objects(std::string_view text);
/// Whether behind the first object of the text another one begins, as where nothing was written between objects.
[[nodiscard]] bool holds_several_objects(std::string_view text);

}  // namespace nustream::decode
