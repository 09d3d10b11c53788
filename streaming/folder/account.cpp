#include "folder/account.h"

#include <filesystem>

#include "secrets/key_place.h"

namespace nustream::folder {

std::string key_file_for(const config::Config& config, bool state_exists) {
  const secrets::KeySettings settings{config.state.key_file, config.state.key_directory};
  const std::filesystem::path folder = config.state.directory;
  return (state_exists ? secrets::key_file_of(folder, config.stream, settings)
                       : secrets::make_key_file(folder, config.stream, settings))
      .string();
}

std::optional<journal::FolderWitness> witness_for(const config::Config& config, const std::string& key_file,
                                                  const secrets::Keyring& keys) {
  if (!keys.is_private()) return std::nullopt;
  const config::State& state = config.state;
  return journal::FolderWitness(journal::witness_settings(state.witness, key_file, state.directory,
                                                          state.key_directory, config.stream, config.lane),
                                keys);
}

std::vector<std::string> warnings_of(const config::Config& config, const std::string& key_file,
                                     const std::optional<journal::FolderWitness>& witness) {
  std::vector<std::string> all;
  if (!key_file.empty() && secrets::lies_in(key_file, config.state.directory)) {
    all.push_back(
        "the key " + key_file +
        " lies inside the state folder, so that a copy of the folder opens its noise: move it out, and leave "
        "a link to it (docs/operations.md, \"Moving the key out\")");
  }
  if (witness && !witness->warning().empty()) all.push_back(witness->warning());
  return all;
}

}  // namespace nustream::folder
