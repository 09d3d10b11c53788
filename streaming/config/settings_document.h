// The text of settings as a document of TOML.
#pragma once

#include <string>

#include <toml++/toml.h>

namespace nustream::config {

/// Throws a Failure of one line, even where the file's text has line breaks.
[[noreturn]] void refuse_line(std::string line);

/// Parses a file; a file of data gets a message that says what it is. Throws Failure(io) where the file cannot be
/// read, and Failure(configuration) with file, line and column where it is not TOML.
[[nodiscard]] toml::table parse_file(const std::string& file);

/// Puts "section.key=value" into the document, in place of what stands there. Throws Failure(usage) where `text` is
/// not of that form.
void apply_override(toml::table& root, const std::string& text);

}  // namespace nustream::config
