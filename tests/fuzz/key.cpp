// Key files.
#include <filesystem>
#include <fstream>

#include "error.h"
#include "fuzz.h"
#include "secrets/key_file.h"
#include "temporary_folder.h"

namespace nustream::fuzz {
namespace {

const std::filesystem::path& file() {
  static const tests::TemporaryFolder folder;
  static const std::filesystem::path path = [] {
    std::filesystem::path made = folder.path() / "key";
    std::ofstream{made};
    std::filesystem::permissions(made, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    return made;
  }();
  return path;
}

void target(std::string_view input) {
  std::ofstream(file(), std::ios::binary | std::ios::trunc) << input;
  const bool good = input.size() == 32 && input.find_first_not_of('\0') != std::string_view::npos;
  try {
    const secrets::Keyring keys = secrets::load_key_file(file());
    require(good && keys.is_private(), "a key is 32 bytes, not all zero");
  } catch (const Failure& failure) {
    require(!good && failure.code() == Exit::permission, "a bad key file is a failure of the key");
  }
}

}  // namespace
}  // namespace nustream::fuzz

NUSTREAM_FUZZ_TARGET(key)
