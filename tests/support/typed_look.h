// Messages end with the command that shows more, which names the files and settings that were typed. Tests of what a
// message says of the records leave those words out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

namespace nustream::tests {

/// `text` with "nustream check CONFIG --data shows" where such a command has the words that were typed.
inline std::string with_short_look(std::string text) {
  const std::string command = "nustream check ";
  const std::string end = " shows";
  for (std::size_t at = text.find(command); at != std::string::npos; at = text.find(command, at + 1)) {
    const std::size_t line = std::min(text.find('\n', at), text.size());
    const std::size_t shows = text.find(end, at);
    if (shows == std::string::npos || shows > line) continue;
    text.replace(at, shows - at, command + "CONFIG --data");
  }
  return text;
}

}  // namespace nustream::tests
