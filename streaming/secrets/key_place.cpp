// Finds or makes the key of a state folder (docs/formats/key.md#where-it-lies). key_file_of() only looks, for
// commands that read a folder; make_key_file() makes key and link, for a run that begins in one.
#include "secrets/key_place.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include "error.h"
#include "secrets/folder_trust.h"
#include "secrets/hex.h"
#include "secrets/key_file.h"
#include "secrets/secret_file.h"
#include "secrets/sodium.h"

namespace nustream::secrets {
namespace {

namespace fs = std::filesystem;

constexpr const char* advice =
    "set state.key_directory to a folder of your own outside the state folder, or state.key_file to a file that "
    "nustream key new FILE made";

/// The absolute path in an environment variable; empty for a relative one, which the XDG specification says to
/// ignore.
fs::path folder_in(const char* variable) {
  const char* const value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): before any thread
  fs::path path = value == nullptr ? "" : value;
  return path.is_absolute() ? path : fs::path();
}

/// Makes the folder and those above it where they are missing, with mode 0700, as the XDG specification asks for.
void make_folders(const fs::path& folder) {
  std::error_code unknown;  // mkdir reports it
  if (fs::is_directory(folder, unknown)) return;
  // The outermost folder comes first, since mkdir makes one folder at a time.
  if (folder.has_parent_path() && folder.parent_path() != folder) make_folders(folder.parent_path());
  const int error = ::mkdir(folder.c_str(), S_IRWXU) == 0 ? 0 : errno;
  if (error == 0 || fs::is_directory(folder, unknown)) return;  // another run made it meanwhile
  throw system_failure(Exit::permission, "make the folder for keys", folder, error, advice);
}

/// The key file that a run makes where no setting names one; empty where there is no place for it.
fs::path usual_file(const fs::path& folder, const std::string& stream, const KeySettings& settings) try {
  return real_path(key_directory(settings.directory)) / key_file_name(stream, folder);
} catch (const Failure&) {
  return {};
}

[[noreturn]] void symlink_failed(const fs::path& link, int error) {
  throw system_failure(Exit::io, "make the link", link, error, "check the disk, then run the same command again");
}

}  // namespace

fs::path real_path(const fs::path& path) {
  std::error_code unknown;
  const fs::path absolute = fs::absolute(path, unknown);
  // "Weakly", since a state folder may not be there yet when its key is named.
  const fs::path real = fs::weakly_canonical(unknown ? path : absolute, unknown);
  const fs::path clean = unknown ? absolute.lexically_normal() : real;
  return clean.has_filename() ? clean : clean.parent_path();  // "runs/mine/" means "runs/mine"
}

fs::path key_directory(const fs::path& directory) {
  if (!directory.empty()) return directory;
  if (const fs::path config = folder_in("XDG_CONFIG_HOME"); !config.empty()) return config / "nustream";
  std::error_code unknown;
  const fs::path home = folder_in("HOME");
  if (!home.empty() && fs::is_directory(home, unknown)) return home / ".config/nustream";
  throw Failure(Exit::permission,
                std::string("no place for a key: neither XDG_CONFIG_HOME nor HOME names a folder; ") + advice);
}

std::string key_file_name(const std::string& stream, const fs::path& folder) {
  const std::string path = real_path(folder).string();
  std::array<std::uint8_t, 16> hash{};
  // Two folders of one stream have two keys, since their paths differ, such as sales-0123456789abcdef.key.
  keyed_hash({}, path, hash);
  return stream + "-" + to_hex(hash).substr(0, 16) + ".key";
}

fs::path key_file_of(const fs::path& folder, const std::string& stream, const KeySettings& settings) {
  if (!settings.file.empty()) return settings.file;
  const fs::path own = folder / key_link;
  std::error_code unknown;
  switch (fs::symlink_status(own, unknown).type()) {
    case fs::file_type::symlink: {
      // Where the link leads counts even if nothing is there. The run then fails for want of its key, where a new key
      // would not open the state.
      const fs::path target = fs::read_symlink(own);
      return target.is_absolute() ? target : folder / target;
    }
    case fs::file_type::not_found: {
      // A folder that was restored without its link still has its key under the usual name.
      const fs::path made = usual_file(folder, stream, settings);
      return fs::exists(made, unknown) ? made : own;
    }
    default:
      return own;
  }
}

fs::path make_key_file(const fs::path& folder, const std::string& stream, const KeySettings& settings) {
  const fs::path own = folder / key_link;
  std::error_code unknown;
  const auto kind = fs::symlink_status(own, unknown).type();
  if (!settings.file.empty() || kind != fs::file_type::not_found) {
    return key_file_of(folder, stream, settings);
  }
  const fs::path directory = key_directory(settings.directory);
  make_folders(directory);
  // The folder may have been there before this run, with any owner and mode. Who may write to it could put a key of
  // their own in it, under which the state would then be sealed.
  require_trusted(directory, "the folder for keys", advice);
  require_trusted_above(directory, "the folder for keys", advice);
  // For example runs/mine/key then leads to /home/you/.config/nustream/mine-d2b2026e258d7f2b.key.
  const fs::path file = real_path(directory) / key_file_name(stream, folder);
  // Every backup of the state folder would hold the key as well.
  if (lies_in(file, folder)) {
    throw Failure(Exit::permission,
                  "the folder for keys " + directory.string() + " lies in the state folder; " + advice);
  }
  // The key comes before the link. After a crash between the two, the next run finds the key by its name and links
  // it.
  if (!fs::exists(file, unknown)) create_key_file(file);
  link_key_file(folder, file);
  return file;
}

void link_key_file(const fs::path& folder, const fs::path& file) {
  const fs::path link = folder / key_link;
  // A link is not changed but replaced by a rename, so that a crash leaves either the old one or the new one.
  const fs::path next = folder / "key.new";
  if (::unlink(next.c_str()) != 0 && errno != ENOENT) symlink_failed(next, errno);
  if (::symlink(real_path(file).c_str(), next.c_str()) != 0) symlink_failed(next, errno);
  if (::rename(next.c_str(), link.c_str()) != 0) symlink_failed(link, errno);
  sync_folder_of(link);
}

bool lies_in(const fs::path& path, const fs::path& folder) {
  const fs::path inner = real_path(path);
  const fs::path outer = real_path(folder);
  // Paths are compared by their parts, since as text "/runs/mine2" begins with "/runs/mine", in which it does not
  // lie.
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

std::string warning_of_place(const fs::path& key_file, const fs::path& folder) {
  if (!lies_in(key_file, folder)) return {};
  return "the key " + key_file.string() +
         " lies inside the state folder, so that a copy of the folder opens its noise: move it out, and leave a link "
         "to it (docs/operations.md, \"Moving the key out\")";
}

}  // namespace nustream::secrets
