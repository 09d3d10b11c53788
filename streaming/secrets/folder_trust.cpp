// Judges owner and mode of folders and files by stat(2). A run asks this before it reads a state, a ledger or a key,
// or makes one: whoever may write to a folder on the way can exchange what is read there.
#include "secrets/folder_trust.h"

#include <unistd.h>

#include "error.h"

namespace nustream::secrets {
namespace {

// Owner and mode are judged by these two rules everywhere in this file. Root is trusted, since root can read and
// change everything anyway.
constexpr mode_t writable_by_others = S_IWGRP | S_IWOTH;

bool is_of_another(const struct stat& status) {
  return status.st_uid != ::geteuid() && status.st_uid != 0;
}

}  // namespace

void require_trusted(const std::filesystem::path& path, const std::string& what, const std::string& advice) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return;  // the code that opens the folder reports that it is missing
  const std::string which = what + " " + path.string();
  if (is_of_another(status)) {
    throw Failure(Exit::permission, which +
                                        " belongs to another user, who could change what is in it; run this as that "
                                        "user, or " +
                                        advice);
  }
  if ((status.st_mode & writable_by_others) != 0) {
    throw Failure(Exit::permission, which + " is writable by others, who could change what is in it: chmod go-w " +
                                        path.string() + " once you know that what it holds is yours, or " + advice);
  }
}

void require_trusted_above(const std::filesystem::path& path, const std::string& what, const std::string& advice) {
  std::error_code unknown;
  const std::filesystem::path written = std::filesystem::absolute(path, unknown);
  // Both ways to the folder are checked, as it is written and as links lead to it: a link on the way can be renamed,
  // too.
  for (const std::filesystem::path& from : {written, std::filesystem::weakly_canonical(written, unknown)}) {
    // All folders up to the root count: in /srv/team/runs/mine, whoever may write to /srv can rename "team" and put
    // another folder of that name in its place.
    for (std::filesystem::path above = from.parent_path(); !above.empty(); above = above.parent_path()) {
      struct stat status {};
      const bool is_there = ::stat(above.c_str(), &status) == 0;
      // A folder such as /tmp has the sticky bit: others may add to it, but not rename what is not theirs.
      const bool is_shared = (status.st_mode & writable_by_others) != 0 && (status.st_mode & S_ISVTX) == 0;
      if (is_there && (is_of_another(status) || is_shared)) {
        throw Failure(Exit::permission,
                      what + " " + path.string() + " lies below " + above.string() +
                          (is_shared ? ", which is writable by others" : ", another user's folder") +
                          ": they could put another folder in its place; " + advice);
      }
      // The root is its own parent.
      if (above == above.parent_path()) break;
    }
  }
}

void require_trusted(const struct stat& status, const std::filesystem::path& path) {
  if (!S_ISREG(status.st_mode)) return;
  if (is_of_another(status)) {
    throw Failure(Exit::permission, "the file " + path.string() +
                                        " belongs to another user; run this as that user, or restore the file");
  }
  if ((status.st_mode & writable_by_others) != 0) {
    throw Failure(Exit::permission, "the file " + path.string() +
                                        " is writable by others, who could change it: chmod go-w " + path.string() +
                                        " once you know that it is as it was left");
  }
}

}  // namespace nustream::secrets
