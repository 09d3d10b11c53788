// Where the key of a state folder lies: outside the folder, so that no backup of the folder holds both
// (docs/operations.md).
#pragma once

#include <filesystem>
#include <string>

namespace nustream::secrets {

/// The name of the link in a state folder that leads to its key; of the key itself in folders of earlier versions.
inline constexpr const char* key_link = "key";

/// What the settings say of the key's place; empty where they say nothing.
struct KeySettings {
  std::filesystem::path file;       ///< state.key_file
  std::filesystem::path directory;  ///< state.key_directory
};

/// Where keys are made that no setting places: `directory`, or else nustream/ in XDG_CONFIG_HOME, or else in
/// HOME/.config. Nothing is made. Failure(permission) where neither variable names a folder.
[[nodiscard]] std::filesystem::path key_directory(const std::filesystem::path& directory);

/// The name of a key file: the stream's name and a hash of the folder's path, links resolved. Two folders never share
/// one by accident, and a folder that was deleted and made again finds its old one.
[[nodiscard]] std::string key_file_name(const std::string& stream, const std::filesystem::path& folder);

/// The key file of an existing state folder: the setting's; or what `key` in the folder leads to; or, where the
/// folder has no such link any more, the file of that name in key_directory(). Nothing is made, and what is named
/// need not be there.
[[nodiscard]] std::filesystem::path key_file_of(const std::filesystem::path& folder, const std::string& stream,
                                                const KeySettings& settings);

/// The same for a folder that a run begins in. Where the folder holds no `key` and the settings name no file, the key
/// is made in key_directory() if it is not there, and the link to it in the folder. Failure(permission) where that
/// cannot be.
[[nodiscard]] std::filesystem::path make_key_file(const std::filesystem::path& folder, const std::string& stream,
                                                  const KeySettings& settings);

/// Lets `key` in the folder lead to `file`, in one step; what stood there before is gone.
void link_key_file(const std::filesystem::path& folder, const std::filesystem::path& file);

/// Absolute, links resolved as far as the path exists.
[[nodiscard]] std::filesystem::path real_path(const std::filesystem::path& path);

/// True where `path` lies in `folder`, links resolved.
[[nodiscard]] bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder);

}  // namespace nustream::secrets
