// What a person typed behind --set, and the commands that are printed for a person to type.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace nustream::config {

/// What was typed behind --set, as it may be printed and logged: as a word of a shell, and without its value where
/// that may hold a password.
[[nodiscard]] std::string printable(const std::string& setting);

/// " --set …" for each of the overrides, as they may be printed.
[[nodiscard]] std::string typed_settings(const std::vector<std::string>& overrides);

/// Where a key stands that the settings as a whole contradict: "--set KEY" where it was typed, else the file's name.
[[nodiscard]] std::string set_or_file(const Config& config, std::string_view key);

/// Makes InputSettings::look the command that reads what this run reads. `files` are those that were typed, and empty
/// where the settings name them.
void name_look(Config& config, const std::vector<std::string>& files);

}  // namespace nustream::config
