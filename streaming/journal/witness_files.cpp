// Names and lists files that may be witnesses (docs/formats/witness.md). Whether one of them is a folder's own, and
// whether it can be believed, is decided in folder_witness.cpp.
#include "journal/witness_files.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "error.h"
#include "journal/disk.h"
#include "secrets/hex.h"

namespace nustream::journal {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view ending = ".witness";
// Half of the account's digits, such as in "mine-0123456789abcdef.witness".
constexpr std::size_t account_digits = 16;

/// What `read` makes of the bytes of a file; nothing where they cannot be read.
template <class Read>
auto read_regular_file(const fs::path& file, const Read& read) -> std::optional<decltype(read(std::string()))> {
  std::error_code gone;
  if (!fs::is_regular_file(fs::symlink_status(file, gone))) return std::nullopt;
  try {
    return read(read_file_if_any(*posix_disk(), file));
  } catch (const Failure&) {
    // Files of other programs may have such a name. What a file that cannot be read means, depends on the caller.
    return std::nullopt;
  }
}

}  // namespace

fs::path witness_file(const fs::path& place, const std::string& stream, const AccountId& account) {
  return place / (stream + "-" + secrets::to_hex(account).substr(0, account_digits) + std::string(ending));
}

bool has_name_of(const std::string& stream, const fs::path& file) {
  const std::string name = file.filename().string();
  const std::size_t first = stream.size() + 1;
  return name.size() == first + account_digits + ending.size() && name.starts_with(stream + "-") &&
         name.ends_with(ending) && name.find_first_not_of("0123456789abcdef", first) == first + account_digits;
}

std::vector<fs::path> witness_files(const fs::path& place, std::error_code& unknown) {
  std::vector<fs::path> files;
  for (fs::directory_iterator entry(place, unknown), end; !unknown && entry != end; entry.increment(unknown)) {
    if (entry->path().extension() == ending) files.push_back(entry->path());
  }
  // A place that is not there holds no witness for certain. One that cannot be read may hold one, which the caller is
  // told.
  if (unknown == std::errc::no_such_file_or_directory || unknown == std::errc::not_a_directory) unknown.clear();
  // The order of a directory is the file system's. Sorted, two runs judge the same files in the same order.
  std::ranges::sort(files);
  return files;
}

std::optional<Witness> claims_in(const fs::path& file) {
  return read_regular_file(file, [](const std::string& bytes) { return claims_of(bytes); });
}

std::optional<WitnessFile> read_witness_file(const fs::path& file, const secrets::Keyring& keys) {
  return read_regular_file(file, [&keys](std::string bytes) {
    ReadWitness read = read_witness(bytes, keys);
    return WitnessFile{std::move(bytes), std::move(read)};
  });
}

}  // namespace nustream::journal
