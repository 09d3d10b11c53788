// Files with secrets: made for this process's user alone, and read once, by the owner or by the user to whom the
// system hands the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

namespace nustream::secrets {

/// A file descriptor that is closed at the end of its scope.
class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags) : Descriptor(::open(path.c_str(), flags | O_CLOEXEC)) {}
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
  /// The group may read a file that is root's and that nobody may write (mode 0440). In this form systemd hands over
  /// secrets, with an access list for the service's user, and Kubernetes does, with fsGroup.
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

/// Makes a file of `bytes` with mode 0600, which is durable when this returns. Returns false where the name is taken,
/// and leaves that file alone. The name stands for the whole file from the first moment on: bytes are written to
/// PATH.RANDOM.new and synced, and the file then gets its name. A crash may leave PATH.RANDOM.new behind, which may
/// be deleted; a full disk leaves nothing.
///
/// Throws Failure(permission), with the message "make WHAT PATH: …; REMEDY", where no file can be made there, and
/// Failure(io) where it cannot be written.
[[nodiscard]] bool create_private_file(const std::filesystem::path& path, std::span<const std::uint8_t> bytes,
                                       const std::string& what, const std::string& remedy);

/// Writes all of `bytes`, in as many pieces as the system takes. Returns 0, or the error number of what failed.
[[nodiscard]] int write_all(int descriptor, std::span<const std::uint8_t> bytes);

/// Makes the name of a file durable. Throws Failure(io) where the system refuses.
void sync_folder_of(const std::filesystem::path& path);

}  // namespace nustream::secrets
