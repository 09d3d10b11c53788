#include "kafka/secret_files.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "nustream/noise/source.h"

namespace nustream::kafka {
namespace {

bool names_a_file(const std::string& property) {
  return (property.starts_with("ssl.") && property.ends_with(".location")) || property.ends_with("_file");
}

/// The hash of a file's content; nothing where it cannot be read. The content is secret, so that only its hash is
/// kept.
std::optional<journal::Hash> hash_of_file(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) return std::nullopt;
  const journal::Hash hash = journal::hash_of(bytes);
  noise::wipe({reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()});
  return hash;
}

}  // namespace

SecretFiles::SecretFiles(const Properties& properties) {
  for (const auto& [name, path] : properties) {
    if (!names_a_file(name)) continue;
    if (const auto hash = hash_of_file(path)) files_[name] = {path, *hash};
  }
}

std::string SecretFiles::changed() const {
  std::string names;
  for (const auto& [name, seen] : files_) {
    const auto now = hash_of_file(seen.path);
    if (!now || *now == seen.contents) continue;
    if (!names.empty()) names += ", ";
    names += name;
  }
  return names;
}

}  // namespace nustream::kafka
