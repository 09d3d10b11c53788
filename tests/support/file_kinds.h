// What other_kind() says of texts, for tests of file kinds.
#pragma once

#include <string>

#include "decode/file_kind.h"
#include "decode_rows.h"

namespace nustream::tests {

/// What a file is whose whole content is `content`.
inline std::string kind(const std::string& content, const config::InputSettings& settings = csv()) {
  const std::size_t end = content.find('\n');
  const bool is_one_line = end == std::string::npos || content.find_first_not_of(" \t\r\n", end) == std::string::npos;
  return decode::other_kind({content, true, is_one_line}, settings, "in");
}

/// `sentence`, without what it says to set where the settings have it.
inline std::string under(const config::InputSettings& settings, std::string sentence) {
  const std::string to_set = ", and set stream.format = \"jsonl\"";
  if (settings.format == config::Format::json_lines) sentence.erase(sentence.find(to_set), to_set.size());
  return sentence;
}

/// What a file is that begins with `content`, of which nothing else is known.
inline std::string kind_of_beginning(const std::string& content, const config::InputSettings& settings) {
  return decode::other_kind({content, false, false}, settings, "in");
}

/// What a file is whose only line begins with `content`, and is longer than what is looked at.
inline std::string kind_of_long_line(const std::string& content, const config::InputSettings& settings) {
  return decode::other_kind({content, false, true}, settings, "in");
}

}  // namespace nustream::tests
