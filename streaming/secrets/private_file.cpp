#include "secrets/private_file.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "error.h"
#include "secrets/descriptor.h"

namespace nustream::secrets {
namespace {

namespace fs = std::filesystem;

void write_all(int descriptor, std::span<const std::uint8_t> bytes, const std::string& what, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw system_failure(Exit::io, "write " + what, path, errno, "free space and try again");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

/// An empty file of mode 0600 beside `path`, named PATH.RANDOM.new, which no other run makes too. The name is removed
/// at the end of the scope.
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

/// Gives the file `from` the name `to` unless another file has it. Returns 0, or the system's error. A link fails
/// where the name is taken, on every file system that has links; on others a rename that must not replace does.
int give_name(const char* from, const char* to) {
  if (::link(from, to) == 0) return 0;
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
  if (::access(path.c_str(), F_OK) == 0) return false;
  if (errno != ENOENT) throw not_made(errno);
  const NewFile next(path);
  if (!next.is_made()) throw not_made(next.error());
  write_all(next.descriptor(), bytes, what, path);
  if (::fsync(next.descriptor()) != 0) {
    throw system_failure(Exit::io, "sync " + what, path, errno, "make it on another disk");
  }
  if (const int error = give_name(next.name(), path.c_str()); error == EEXIST) {
    return false;
  } else if (error != 0) {
    throw not_made(error);
  }
  sync_folder_of(path);
  return true;
}

}  // namespace nustream::secrets
