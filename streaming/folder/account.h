// The key and the witness of a run's state folder, as the settings place them, and what is said of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "journal/folder_witness.h"
#include "secrets/keyring.h"

namespace nustream::folder {

/// The folder's key file. Without a state, one is made where nothing names it. Failures as secrets::make_key_file().
[[nodiscard]] std::string key_file_for(const config::Config& config, bool state_exists);

/// Nothing for a run that is not private: it has no account that could be reset.
[[nodiscard]] std::optional<journal::FolderWitness> witness_for(const config::Config& config,
                                                                const std::string& key_file,
                                                                const secrets::Keyring& keys);

/// What the operator should know of the key's place and of the witness, one sentence each. `key_file`: empty for an
/// insecure seed.
[[nodiscard]] std::vector<std::string> warnings_of(const config::Config& config, const std::string& key_file,
                                                   const std::optional<journal::FolderWitness>& witness);

}  // namespace nustream::folder
