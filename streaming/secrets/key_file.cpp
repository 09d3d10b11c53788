// Makes and reads the key file (docs/formats/key.md). The checks of owner and mode are those of secret_file.cpp; this
// file adds the two rules about the content: exactly 32 bytes, and not all of them zero.
#include "secrets/key_file.h"

#include <algorithm>
#include <cerrno>
#include <string>

#include "error.h"
#include "secrets/random.h"
#include "secrets/secret_file.h"

namespace nustream::secrets {
namespace {

namespace fs = std::filesystem;

/// Holds a key and wipes it at the end of its scope, also where an exception ends it.
struct WipedKey {
  noise::KeyBytes bytes{};
  WipedKey() = default;
  WipedKey(const WipedKey&) = delete;
  WipedKey& operator=(const WipedKey&) = delete;
  ~WipedKey() { noise::wipe(bytes); }
};

/// The failure for a file that was read and holds no key. All of them end with 77, whatever is wrong with the key.
Failure refused(const fs::path& path, const std::string& reason, const std::string& advice) {
  return {Exit::permission, "key file " + path.string() + " " + reason + "; " + advice};
}

const SecretFile::Words key_words{
    "key file",
    "check path and owner; a state opens under the key that sealed it alone, and a new stream's key is made with: "
    "nustream key new FILE",
    "run chmod 600 on it, and nustream key rotate if others read it: afterwards the old key opens no new state; old "
    "copies of a state it still opens, with the noise that they remember and the noise up to the next resume"};

}  // namespace

void create_key_file(const fs::path& path) {
  const std::string what = "key file";
  const std::string advice = "name a new file in a folder of your own";
  WipedKey key;
  fill_random(key.bytes);
  // A name that is taken is a failure, and never overwritten: a state that was sealed under the old key could not be
  // opened any more.
  if (!create_private_file(path, key.bytes, what, advice)) {
    throw system_failure(Exit::permission, "make " + what, path, EEXIST, advice);
  }
}

Keyring load_key_file(const fs::path& path) {
  WipedKey key;
  // SecretFile reads one byte more than it is asked for, so that a longer file is refused and not cut to a key.
  const SecretFile file(path, key.bytes.size(), key_words);
  if (file.bytes().size() != key.bytes.size()) {
    throw refused(path, "does not have 32 bytes",
                  "restore it, or for a new stream make one with: nustream key new FILE");
  }
  std::copy(file.bytes().begin(), file.bytes().end(), key.bytes.begin());
  if (std::all_of(key.bytes.begin(), key.bytes.end(), [](std::uint8_t byte) { return byte == 0; })) {
    throw refused(path, "is all zero", "restore it, or for a new stream make one with: nustream key new FILE");
  }
  return Keyring::from_master(key.bytes);
}

}  // namespace nustream::secrets
