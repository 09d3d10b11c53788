// Reads secret files into memory that is wiped, and makes new ones so that their name stands for the whole file or
// for nothing. Key files and token files come through here. Owner and mode are judged by the open descriptor, not by
// the path, so that nobody can exchange the file between the check and the read.
#include "secrets/secret_file.h"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "error.h"

namespace nustream::secrets {
namespace {

namespace fs = std::filesystem;

/// Refuses a file that others may have read or written. For a file of root that nobody may write, reading by the
/// group is allowed (see SecretFile); otherwise the group is nobody to share a secret with.
void check_private(int descriptor, const fs::path& path, const SecretFile::Words& words) {
  const auto refuse = [&](const std::string& reason, const std::string& remedy) {
    throw Failure(Exit::permission, words.what + " " + path.string() + " " + reason + "; " + remedy);
  };
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    throw system_failure(Exit::permission, "look at " + words.what, path, errno, "check the path");
  }
  if (!S_ISREG(status.st_mode)) refuse("is not a regular file", "name one that is");
  constexpr mode_t anybody_writes = S_IWUSR | S_IWGRP | S_IWOTH;
  // Mode 0440 of root, for example, in which systemd and Kubernetes hand over secrets.
  const bool handed_over = status.st_uid == 0 && (status.st_mode & anybody_writes) == 0;
  const mode_t closed_to = S_IRWXO | (handed_over ? S_IXGRP : S_IRWXG);
  if ((status.st_mode & closed_to) != 0) refuse("is open to group or others", words.open_to_others);
  if (status.st_uid != ::geteuid() && status.st_uid != 0) {
    refuse("belongs to another user", "give it to the user who runs this");
  }
}

}  // namespace

SecretFile::SecretFile(const fs::path& path, std::size_t bytes_max, const Words& words)
    : capacity_(bytes_max + 1), bytes_(std::make_unique<unsigned char[]>(capacity_)) {
  // O_NONBLOCK, because a named pipe in the file's place would hold up the start for ever.
  const Descriptor descriptor(path, O_RDONLY | O_NONBLOCK);
  if (!descriptor.valid()) {
    throw system_failure(Exit::permission, "open " + words.what, path, errno, words.cannot_open);
  }
  check_private(descriptor.get(), path, words);
  // A read may give fewer bytes than asked for, and none at the end of the file.
  while (size_ < capacity_) {
    const ssize_t got = ::read(descriptor.get(), bytes_.get() + size_, capacity_ - size_);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int error = errno;
      sodium_memzero(bytes_.get(), capacity_);  // a constructor that throws runs no destructor
      throw system_failure(Exit::permission, "read " + words.what, path, error, "check the disk");
    }
    if (got == 0) break;
    size_ += static_cast<std::size_t>(got);
  }
}

SecretFile::~SecretFile() {
  sodium_memzero(bytes_.get(), capacity_);
}

int write_all(int descriptor, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : EIO;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return 0;
}

namespace {

namespace fs = std::filesystem;

/// An empty file of mode 0600 beside `path`, named PATH.RANDOM.new, a name that no other run uses. The name is
/// removed at the end of the scope.
class NewFile {
 public:
  explicit NewFile(const fs::path& path)
      : name_(path.string() + ".XXXXXX.new"), descriptor_(::mkostemps(name_.data(), 4, O_CLOEXEC)), error_(errno) {}
  ~NewFile() {
    if (descriptor_.valid()) ::unlink(name_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  [[nodiscard]] bool is_made() const noexcept { return descriptor_.valid(); }
  [[nodiscard]] int error() const noexcept { return error_; }
  [[nodiscard]] const char* name() const noexcept { return name_.c_str(); }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }

 private:
  std::string name_;
  Descriptor descriptor_;
  int error_;
};

/// Gives the file `from` the name `to` unless another file has it. Returns 0, or the system's error. Making a link
/// fails where the name is taken. On a file system without links, a rename that must not replace fails instead.
int give_name(const char* from, const char* to) {
  if (::link(from, to) == 0) return 0;
  // These errors say that links are not possible there; any other one is the answer.
  if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS && errno != EMLINK) return errno;
  return ::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0 ? 0 : errno;
}

}  // namespace

void sync_folder_of(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const Descriptor descriptor(folder, O_RDONLY | O_DIRECTORY);
  if (!descriptor.valid() || ::fsync(descriptor.get()) != 0) {
    throw system_failure(Exit::io, "sync folder", folder, errno, "check the disk; what was made there may not last");
  }
}

bool create_private_file(const fs::path& path, std::span<const std::uint8_t> bytes, const std::string& what,
                         const std::string& remedy) {
  const auto not_made = [&](int error) {
    return system_failure(Exit::permission, "make " + what, path, error, remedy);
  };
  // This look is only a short cut, which saves the work where the name is taken. Two processes may both pass it; then
  // give_name() lets one of them win.
  if (::access(path.c_str(), F_OK) == 0) return false;
  if (errno != ENOENT) throw not_made(errno);
  // For a file mine.key this is mine.key.a1B2c3.new, with six letters that the system chooses.
  const NewFile next(path);
  if (!next.is_made()) throw not_made(next.error());
  if (const int error = write_all(next.descriptor(), bytes); error != 0) {
    throw system_failure(Exit::io, "write " + what, path, error, "free space and try again");
  }
  if (::fsync(next.descriptor()) != 0) {
    throw system_failure(Exit::io, "sync " + what, path, errno, "make it on another disk");
  }
  // The content is durable before the name is there. In the other order, a power failure could leave an empty key
  // file.
  if (const int error = give_name(next.name(), path.c_str()); error == EEXIST) {
    return false;
  } else if (error != 0) {
    throw not_made(error);
  }
  // Without this the file might be gone after a power failure, while a state that was sealed with it is still there.
  sync_folder_of(path);
  return true;
}

}  // namespace nustream::secrets
