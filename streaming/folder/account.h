// Finds the key and the witness of a run's state folder where the settings place them, and warns about either.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "journal/folder_witness.h"
#include "secrets/keyring.h"

namespace nustream::folder {

/// The path of the folder's key file. Without a state, a key file is made if nothing names one. Throws as
/// secrets::make_key_file() and secrets::key_file_of().
[[nodiscard]] std::string key_file_for(const config::Config& config, bool state_exists);

/// The folder's witness, which is yet to be found. Nothing for a run that is not private, since it spends nothing
/// that an older copy could hide.
[[nodiscard]] std::optional<journal::FolderWitness> witness_for(const config::Config& config,
                                                                const std::string& key_file,
                                                                const secrets::Keyring& keys);

/// Sentences that warn the operator about the key's place and the witness. `key_file` is empty for an insecure seed.
[[nodiscard]] std::vector<std::string> warnings_of(const config::Config& config, const std::string& key_file,
                                                   const std::optional<journal::FolderWitness>& witness);

}  // namespace nustream::folder
