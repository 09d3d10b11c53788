// How a message shows the value of a setting that it knows from the text of settings.
#pragma once

#include <string>
#include <vector>

namespace nustream::config {

/// The value of the setting as a file has it; "" where a message names the setting alone.
[[nodiscard]] std::string shown_setting(const std::string& name, const std::vector<std::string>& values);

}  // namespace nustream::config
