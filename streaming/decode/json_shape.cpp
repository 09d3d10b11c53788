#include "decode/json_shape.h"

#include <algorithm>
#include <cstddef>

namespace nustream::decode {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view white = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(white), text.size());
  return text.substr(begin, text.find_last_not_of(white) + 1 - begin);
}

bool looks_like_object(std::string_view text) {
  return text.starts_with('{') && text.ends_with('}');
}

bool begins_an_object(std::string_view text) {
  return text.starts_with('{') && trimmed(text.substr(1)).starts_with('"');
}

bool begins_an_array_of_objects(std::string_view text) {
  return text.starts_with('[') && begins_an_object(trimmed(text.substr(1)));
}

bool holds_several_objects(std::string_view text) {
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text) {
      if (c == '\\') ++i;
      in_text = c != '"';
      continue;
    }
    in_text = c == '"';
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return trimmed(text.substr(i + 1)).starts_with('{');
  }
  return false;
}

}  // namespace nustream::decode
