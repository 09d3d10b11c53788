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
constexpr std::size_t account_digits = 16;

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
  if (unknown == std::errc::no_such_file_or_directory || unknown == std::errc::not_a_directory) unknown.clear();
  std::ranges::sort(files);
  return files;
}

std::optional<WitnessFile> read_witness_file(const fs::path& file, const secrets::Keyring& keys) {
  std::error_code gone;
  if (!fs::is_regular_file(fs::symlink_status(file, gone))) return std::nullopt;
  try {
    std::string bytes = read_file_if_any(*posix_disk(), file);
    ReadWitness read = read_witness(bytes, keys);
    return WitnessFile{std::move(bytes), std::move(read)};
  } catch (const Failure&) {
    return std::nullopt;
  }
}

}  // namespace nustream::journal
