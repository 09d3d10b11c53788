// A file of data that is given where a file of settings belongs.
#pragma once

#include <string>
#include <string_view>

namespace nustream::config {

/// Of a `text` that is no TOML: what it is, in words, and the command that was probably meant; "" where it looks like
/// settings. It holds nothing of the text.
[[nodiscard]] std::string told_as_data(std::string_view text, const std::string& file);

}  // namespace nustream::config
