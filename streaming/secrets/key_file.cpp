#include "secrets/key_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <string>

#include "error.h"
#include "planted.h"
#include "secrets/descriptor.h"
#include "secrets/private_file.h"
#include "secrets/random.h"

namespace nustream::secrets {
namespace {

namespace fs = std::filesystem;

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

void create_key_file(const fs::path& path) {
  const std::string what = "key file";
  const std::string advice = "name a new file in a folder of your own";
  WipedKey key;
  fill_random(key.bytes);
  if (!create_private_file(path, key.bytes, what, advice)) {
    throw system_failure(Exit::permission, "make " + what, path, EEXIST, advice);
  }
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
