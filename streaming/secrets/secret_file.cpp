#include "secrets/secret_file.h"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "error.h"
#include "secrets/descriptor.h"

namespace nustream::secrets {
namespace {

namespace fs = std::filesystem;

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

}  // namespace nustream::secrets
