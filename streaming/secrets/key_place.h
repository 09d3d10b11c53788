// Says where the key of a state folder lies: outside the folder, so that no backup of the folder holds both
// (docs/operations.md).
#pragma once

#include <filesystem>
#include <string>

namespace nustream::secrets {

/// The name of the link in a state folder that leads to its key. In folders of earlier versions it is the key itself.
inline constexpr const char* key_link = "key";

/// What the settings say about the key's place; empty where they say nothing.
struct KeySettings {
  std::filesystem::path file;       ///< state.key_file
  std::filesystem::path directory;  ///< state.key_directory
};

/// The folder where keys are made: `directory` where that is set, or else nustream/ in XDG_CONFIG_HOME, or else
/// nustream/ in HOME/.config. This makes nothing. Throws Failure(permission) where neither variable names a folder.
[[nodiscard]] std::filesystem::path key_directory(const std::filesystem::path& directory);

/// The name of a key file, made of the stream's name and a hash of the folder's path with its links resolved. Two
/// folders never share a name by accident, and a folder that was deleted and made again finds its old key.
[[nodiscard]] std::string key_file_name(const std::string& stream, const std::filesystem::path& folder);

/// The key file of an existing state folder: the one that a setting names, or the one that `key` in the folder leads
/// to. Where the folder has lost that link, it is the file key_file_name() in key_directory(), if there is one. This
/// makes nothing, and the file need not exist.
[[nodiscard]] std::filesystem::path key_file_of(const std::filesystem::path& folder, const std::string& stream,
                                                const KeySettings& settings);

/// As key_file_of(), for a folder that a run begins in. Where the folder holds no `key` and the settings name no
/// file, it makes the key in key_directory() unless it is there, and the link to it in the folder. Throws
/// Failure(permission) where that is not possible.
[[nodiscard]] std::filesystem::path make_key_file(const std::filesystem::path& folder, const std::string& stream,
                                                  const KeySettings& settings);

/// Makes `key` in the folder lead to `file`, in one step; what stood there before is replaced.
void link_key_file(const std::filesystem::path& folder, const std::filesystem::path& file);

/// The absolute path, with links resolved as far as the path exists.
[[nodiscard]] std::filesystem::path real_path(const std::filesystem::path& path);

/// Whether `path` lies in `folder` once links are resolved.
[[nodiscard]] bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder);

/// A sentence that warns the operator of a key file inside the state folder; empty where it lies elsewhere.
[[nodiscard]] std::string warning_of_place(const std::filesystem::path& key_file,
                                           const std::filesystem::path& folder);

}  // namespace nustream::secrets
