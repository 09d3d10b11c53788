// Recognises a file of data that is given where a file of settings belongs.
#pragma once

#include <string>
#include <string_view>

namespace nustream::config {

/// Says what a `text` that is not TOML is, and which command was probably meant; "" where it looks like settings. The
/// sentence holds nothing of the text.
[[nodiscard]] std::string told_as_data(std::string_view text, const std::string& file);

}  // namespace nustream::config
