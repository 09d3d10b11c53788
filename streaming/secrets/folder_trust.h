// Whose folders and files a run goes by: its own user's and root's, and those that nobody else may write to.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>

namespace nustream::secrets {

/// Failure(permission), "WHAT PATH …; ADVICE", where the folder that `path` leads to belongs to another user than
/// this process's or root, or is writable by group or others: they could swap what is in it. A sticky bit does not
/// help, for it lets them add files. A missing folder is no failure.
void require_trusted(const std::filesystem::path& path, const std::string& what, const std::string& advice);

/// The same for the folders above, to which more is allowed: they may be writable by others where a sticky bit keeps
/// those from renaming what is not theirs, as /tmp. Each folder is asked that leads to `path` as it is written, and
/// each above what that leads to, links resolved: whoever can rename one of them can put another folder in the place
/// of this one.
void require_trusted_above(const std::filesystem::path& path, const std::string& what, const std::string& advice);

/// The same for a regular file that was opened, by its status.
void require_trusted(const struct stat& status, const std::filesystem::path& path);

}  // namespace nustream::secrets
