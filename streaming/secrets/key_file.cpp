#include "secrets/key_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <span>
#include <string>

#include "error.h"
#include "planted.h"
#include "secrets/random.h"

namespace nustream::secrets {
namespace {

namespace fs = std::filesystem;

/// Closes a descriptor at the end of its scope.
class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags) : Descriptor(::open(path.c_str(), flags | O_CLOEXEC)) {}
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const noexcept { return value_; }
  [[nodiscard]] bool valid() const noexcept { return value_ >= 0; }

 private:
  int value_;
};

/// Wipes a key at the end of its scope, whatever ends it.
struct WipedKey {
  noise::KeyBytes bytes{};
  WipedKey() = default;
  WipedKey(const WipedKey&) = delete;
  WipedKey& operator=(const WipedKey&) = delete;
  ~WipedKey() { noise::wipe(bytes); }
};

Failure refused(const fs::path& path, const std::string& reason, const std::string& advice) {
  return {Exit::permission, "key file " + path.string() + " " + reason + "; " + advice};
}

void write_all(int descriptor, std::span<const std::uint8_t> bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw system_failure(Exit::io, "write key file", path, errno, "free space and try again");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

[[noreturn]] void not_made(const fs::path& path, int error) {
  throw system_failure(Exit::permission, "make key file", path, error, "name a new file in a folder of your own");
}

/// An empty file of mode 0600 beside `path`, which no other run makes too: PATH.RANDOM.new. It has no such name any
/// more at the end of the scope.
class NewFile {
 public:
  explicit NewFile(const fs::path& path)
      : name_(path.string() + ".XXXXXX.new"), descriptor_(::mkostemps(name_.data(), 4, O_CLOEXEC)) {
    if (!descriptor_.valid()) not_made(path, errno);
  }
  ~NewFile() { ::unlink(name_.c_str()); }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  [[nodiscard]] const char* name() const noexcept { return name_.c_str(); }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }

 private:
  std::string name_;
  Descriptor descriptor_;
};

/// Gives `from` the name `to` unless something has it; 0, or the system's error. A link fails where the name is
/// taken, on every file system that has links; where there are none, a rename that is told to.
int give_name(const char* from, const char* to) {
  if (::link(from, to) == 0) return 0;
  if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS && errno != EMLINK) return errno;
  return ::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0 ? 0 : errno;
}

void check_status(int descriptor, const fs::path& path) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    throw system_failure(Exit::permission, "look at key file", path, errno, "check the path");
  }
  if (!S_ISREG(status.st_mode)) throw refused(path, "is not a regular file", "name a file of 32 bytes");
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    throw refused(
        path, "is open to group or others",
        "run chmod 600 on it, and nustream key rotate if others read it: after that the old key opens no new "
        "state, but still every old copy of one, its noise up to the step that is resumed at, and what of "
        "earlier noise the copy remembers");
  }
  if (status.st_uid != ::geteuid() && status.st_uid != 0) {
    throw refused(path, "belongs to another user", "give it to the user who runs this");
  }
  if (status.st_size != static_cast<off_t>(noise::KeyBytes{}.size())) {
    throw refused(path, "does not have 32 bytes",
                  "restore it, or for a new stream make one with: nustream key new FILE");
  }
}

void read_all(int descriptor, std::span<std::uint8_t> out, const fs::path& path) {
  while (!out.empty()) {
    const ssize_t got = ::read(descriptor, out.data(), out.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_failure(Exit::permission, "read key file", path, errno, "check the disk");
    if (got == 0)
      throw refused(path, "does not have 32 bytes",
                    "restore it, or for a new stream make one with: nustream key new FILE");
    out = out.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace

void sync_folder_of(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const Descriptor descriptor(folder, O_RDONLY | O_DIRECTORY);
  if (!descriptor.valid() || ::fsync(descriptor.get()) != 0) {
    throw system_failure(Exit::io, "sync folder", folder, errno, "check the disk; what was made there may not last");
  }
}

void create_key_file(const fs::path& path) {
  if (const int known = ::access(path.c_str(), F_OK) == 0 ? EEXIST : errno; known != ENOENT) not_made(path, known);
  WipedKey key;
  fill_random(key.bytes);
  const NewFile next(path);
  write_all(next.descriptor(), key.bytes, path);
  if (::fsync(next.descriptor()) != 0) {
    throw system_failure(Exit::io, "sync key file", path, errno, "make it on another disk");
  }
  if (const int error = give_name(next.name(), path.c_str()); error != 0) not_made(path, error);
  sync_folder_of(path);
}

Keyring load_key_file(const fs::path& path) {
  // Without O_NONBLOCK a named pipe in the key's place would hold up the start for ever.
  const Descriptor descriptor(path, O_RDONLY | O_NONBLOCK);
  if (!descriptor.valid()) {
    throw system_failure(Exit::permission, "open key file", path, errno,
                         "check path and owner; a state opens under the key that sealed it alone, and a new stream's "
                         "key is made with: nustream key new FILE");
  }
  check_status(descriptor.get(), path);
  WipedKey key;
  read_all(descriptor.get(), key.bytes, path);
  if (!NUSTREAM_PLANTED("zero-key-file-is-taken") &&
      std::all_of(key.bytes.begin(), key.bytes.end(), [](std::uint8_t byte) { return byte == 0; })) {
    throw refused(path, "is all zero", "restore it, or for a new stream make one with: nustream key new FILE");
  }
  return Keyring::from_master(key.bytes);
}

}  // namespace nustream::secrets
