// A file with a secret in it that somebody else made: read once, by its owner or by whom the system hands it to.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace nustream::secrets {

/// What a file holds, wiped at the end of its scope.
class SecretFile {
 public:
  /// How messages name the file, and what they advise where it cannot be opened.
  struct Words {
    std::string what;            ///< "key file"
    std::string cannot_open;     ///< advice: "check path and owner"
    std::string open_to_others;  ///< advice: what to do about a secret that others may have read
  };

  /// Reads `bytes_max` + 1 bytes at most, so that a file that is too long shows. Failure(permission) for a file that
  /// cannot be opened or read, is no regular file, belongs to somebody else than this process's user or root, or that
  /// others may read or its group write. Its group may read it where it is root's and nobody may write it (mode
  /// 0440): so systemd (with an access list for the service's user) and Kubernetes (with fsGroup) hand secrets over.
  SecretFile(const std::filesystem::path& path, std::size_t bytes_max, const Words& words);
  ~SecretFile();
  SecretFile(const SecretFile&) = delete;
  SecretFile& operator=(const SecretFile&) = delete;

  [[nodiscard]] std::span<const unsigned char> bytes() const noexcept { return {bytes_.get(), size_}; }
  [[nodiscard]] std::string_view text() const noexcept {
    return {reinterpret_cast<const char*>(bytes_.get()), size_};
  }

 private:
  std::size_t capacity_;
  std::unique_ptr<unsigned char[]> bytes_;
  std::size_t size_ = 0;
};

}  // namespace nustream::secrets
