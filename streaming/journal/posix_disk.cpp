// The disk of this machine by POSIX calls. A call that fails becomes a Failure(io) that names the attempt, the path
// and what to do. Reads and writes are at explicit offsets, so that no call depends on where another one left a file.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "error.h"
#include "journal/disk.h"
#include "secrets/folder_trust.h"

namespace nustream::journal {
namespace {

using Path = Disk::Path;

/// Advice for an error of the system, by the kinds of errors that an operator can do something about.
const char* what_to_do(int error) {
  switch (error) {
    case ELOOP:
      return "it is a symbolic link, which is not followed, or lies behind a loop of them: put a file or folder "
             "there";
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case ENAMETOOLONG:
    case EINVAL:
    case ESPIPE:
      return "check the path";
    case EACCES:
    case EPERM:
    case EROFS:
      return "check the path, and who may read and write there";
    default:
      return "mend the disk or free space, then run the same command again, with --resume where a state was "
             "committed";
  }
}

/// Such as "cannot write /data/run/state.new: No space left on device; mend the disk …".
Failure failure(const char* attempt, const Path& path, int error) {
  return system_failure(Exit::io, attempt, path.string(), error, what_to_do(error));
}

/// As secrets::Descriptor, but it can be moved into the file or lock that keeps it.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  [[nodiscard]] int get() const noexcept { return value_; }

 private:
  int value_;
};

class PosixFile final : public File {
 public:
  PosixFile(Descriptor descriptor, Path path) : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

  // Asked each time, since another program may have changed the file.
  [[nodiscard]] std::uint64_t size() const override {
    struct stat status {};
    if (::fstat(descriptor_.get(), &status) != 0) throw failure("look at", path_, errno);
    return static_cast<std::uint64_t>(status.st_size);
  }

  std::size_t read(std::uint64_t offset, std::span<char> out) const override {
    std::size_t done = 0;
    while (done < out.size()) {
      const ssize_t got =
          ::pread(descriptor_.get(), out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw failure("read", path_, errno);
      // The end of the file. A read in the middle may also be short, so that only 0 says this.
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

  void write(std::uint64_t offset, std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = ::pwrite(descriptor_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (written < 0 && errno == EINTR) continue;
      // A write of nothing sets no error. It is told as a full disk, and not tried for ever.
      if (written <= 0) throw failure("write", path_, written < 0 ? errno : ENOSPC);
      bytes.remove_prefix(static_cast<std::size_t>(written));
      offset += static_cast<std::uint64_t>(written);
    }
  }

  void truncate(std::uint64_t size) override {
    if (::ftruncate(descriptor_.get(), static_cast<off_t>(size)) != 0) throw failure("truncate", path_, errno);
  }

  // A sync is never tried again, not even after EINTR: the kernel may have dropped the error along with the pages.
  void sync() override {
    if (::fsync(descriptor_.get()) != 0) throw failure("sync", path_, errno);
  }

 private:
  Descriptor descriptor_;
  Path path_;
};

/// The lock is flock's, which belongs to the open file. The kernel gives it up when the descriptor is closed, also
/// where the process is killed; so a crash never leaves a folder locked.
class PosixLock final : public Lock {
 public:
  explicit PosixLock(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}

 private:
  Descriptor descriptor_;
};

constexpr mode_t mode_of(Audience audience) {
  return audience == Audience::everyone ? 0644 : 0600;
}

// Files of the folder are never opened through a symbolic link. Otherwise somebody who may put a link there could
// make a run overwrite or seal another user's file.
class PosixDisk final : public Disk {
 public:
  void make_folder(const Path& folder) override {
    std::error_code unknown;  // not looked at: mkdir below fails for the same reason
    const Path above = parent_of(folder);
    const bool is_top = folder.empty() || above == folder;  // "." is above itself
    if (is_top || std::filesystem::is_directory(folder, unknown)) return;
    // From the top down. Another process may make the same folder at the same time, which is as good.
    make_folder(above);
    if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) throw failure("make folder", folder, errno);
    // The name of the new folder is an entry of the one above it, which has to be synced for the name to last.
    sync_folder(above);
  }

  void require_trusted(const Path& folder) override {
    secrets::require_trusted(folder, "the folder", "name another one");
  }

  std::unique_ptr<File> open(const Path& path, Access access) override {
    Descriptor descriptor(
        ::open(path.c_str(), (access == Access::write ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW));
    if (descriptor.get() < 0) {
      // A missing file is an answer and not a failure: most callers ask whether it is there.
      if (errno == ENOENT) return nullptr;
      throw failure("open", path, errno);
    }
    struct stat status {};
    if (::fstat(descriptor.get(), &status) != 0) throw failure("look at", path, errno);
    // Asked of the open descriptor, so that the file cannot be exchanged after the question.
    secrets::require_trusted(status, path);
    return std::make_unique<PosixFile>(std::move(descriptor), path);
  }

  std::unique_ptr<File> create(const Path& path, Audience audience) override {
    // An old file is never emptied, since a crash may have left the same file under two names: to empty one would
    // empty the other.
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) throw failure("replace", path, errno);
    // O_EXCL: if somebody puts a file or a link there after the unlink, this fails and does not write through it.
    Descriptor descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode_of(audience)));
    if (descriptor.get() < 0) throw failure("make", path, errno);
    // The file has the mode that its format page says, whatever the umask is.
    if (::fchmod(descriptor.get(), mode_of(audience)) != 0) throw failure("set the mode of", path, errno);
    return std::make_unique<PosixFile>(std::move(descriptor), path);
  }

  void rename(const Path& from, const Path& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) throw failure("rename", from, errno);
  }

  void sync_folder(const Path& folder) override {
    // The names in a folder are its content, and become durable when it is synced.
    const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (descriptor.get() < 0 || ::fsync(descriptor.get()) != 0) throw failure("sync folder", folder, errno);
  }

  std::unique_ptr<Lock> lock(const Path& path) override {
    Descriptor descriptor(
        ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode_of(Audience::operators)));
    if (descriptor.get() < 0) throw failure("open", path, errno);
    // Not waited for: another run holds the lock for as long as it runs.
    if (::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) throw failure("lock", path, errno);
      throw Failure(Exit::locked, "the state folder " + parent_of(path).string() +
                                      " is in use by another run; wait for it or name another state.directory");
    }
    return std::make_unique<PosixLock>(std::move(descriptor));
  }

 private:
  static Path parent_of(const Path& path) {
    const Path above = path.parent_path();
    return above.empty() ? Path(".") : above;
  }
};

}  // namespace

std::unique_ptr<Disk> posix_disk() {
  return std::make_unique<PosixDisk>();
}

}  // namespace nustream::journal
