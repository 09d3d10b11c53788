// From a document to settings, for whoever has the document.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "config/settings_tree.h"

namespace nustream::config {

/// What the document says. `overrides`: as they were given, for Config::overrides.
[[nodiscard]] Config read_tree(const SettingsTree& tree, const std::string& file,
                               const std::vector<std::string>& overrides, Purpose purpose);

}  // namespace nustream::config
