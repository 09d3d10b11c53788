// Says which folders and files a run trusts: those of its own user and of root that nobody else may write to.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>

namespace nustream::secrets {

/// Throws Failure(permission), with the message "WHAT PATH …; ADVICE", where the folder that `path` leads to belongs
/// to a user other than this process's or root, or is writable by group or others: they could swap what is in it. A
/// sticky bit does not help, because it lets them add files. A missing folder is not an error.
void require_trusted(const std::filesystem::path& path, const std::string& what, const std::string& advice);

/// Checks the folders above `path` in the same way, but lets others write to one with a sticky bit, such as /tmp:
/// they cannot rename there what is not theirs. It checks each folder that `path` names, and each folder above the
/// place that `path` leads to once links are resolved. A user who can rename one of them can put another folder in
/// the place of `path`.
void require_trusted_above(const std::filesystem::path& path, const std::string& what, const std::string& advice);

/// Checks an open regular file in the same way, by its status.
void require_trusted(const struct stat& status, const std::filesystem::path& path);

}  // namespace nustream::secrets
