// Reads settings from a document that is parsed already.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "config/settings_tree.h"

namespace nustream::config {

/// The settings of the document. `overrides` are kept in Config::overrides as they were given.
[[nodiscard]] Config read_tree(const SettingsTree& tree, const std::string& file,
                               const std::vector<std::string>& overrides, Purpose purpose);

}  // namespace nustream::config
