// Reads a secret that somebody else wrote to a file: once, by the owner or by whom the system hands the file to.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace nustream::secrets {

/// What a secret file holds; it is wiped at the end of its scope.
class SecretFile {
 public:
  /// How messages name the file, and what they advise where it cannot be opened.
  struct Words {
    std::string what;            ///< such as "key file"
    std::string cannot_open;     ///< advice such as "check path and owner"
    std::string open_to_others;  ///< advice on a secret that others may have read
  };

  /// Reads at most `bytes_max` + 1 bytes, so that a file that is too long is noticed. Throws Failure(permission) for
  /// a file that cannot be opened or read, is not a regular file, belongs to somebody other than this process's user
  /// or root, or can be read by others or written by its group.
  ///
  /// Its group may read it where it is root's and nobody may write it (mode 0440). Secrets are handed over so by
  /// systemd, with an access list for the service's user, and by Kubernetes, with fsGroup.
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
