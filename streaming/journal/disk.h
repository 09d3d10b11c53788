// What the file journal needs of a disk, and nothing more, so that tests can use a simulated disk that loses power.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace nustream::journal {

/// Who may read a new file.
enum class Audience {
  operators,  ///< mode 0600
  everyone,   ///< mode 0644
};

enum class Access { read, write };

/// An open file. Every call throws Failure(io) where the system refuses it. A write is durable only after sync().
/// After a failed sync nobody knows what is durable. So a sync is never tried again.
class File {
 public:
  virtual ~File() = default;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Reads out.size() bytes from `offset`, or fewer where the file ends before that. Returns how many.
  virtual std::size_t read(std::uint64_t offset, std::span<char> out) const = 0;
  virtual void write(std::uint64_t offset, std::string_view bytes) = 0;
  virtual void truncate(std::uint64_t size) = 0;
  virtual void sync() = 0;
};

/// A lock that is released when the object is destroyed or the process ends.
class Lock {
 public:
  virtual ~Lock() = default;
};

/// A file system. New and changed names become durable only by sync_folder(). To be used from one thread at a time.
class Disk {
 public:
  using Path = std::filesystem::path;

  virtual ~Disk() = default;
  /// Makes the folder, and those above it, where they are missing: accessible to the user alone, and durable.
  virtual void make_folder(const Path& folder) = 0;
  /// Throws Failure(permission) where the folder belongs to another user, or others may write to it. A folder that is
  /// missing is no failure.
  virtual void require_trusted(const Path& folder) = 0;
  /// Opens an existing file; null where it is missing. Throws Failure(permission) where it belongs to another user,
  /// or others may write to it. A file that was opened without Access::write is never changed.
  [[nodiscard]] virtual std::unique_ptr<File> open(const Path& path, Access access) = 0;
  /// Makes a new, empty file. An existing file of that name is unlinked, never emptied.
  [[nodiscard]] virtual std::unique_ptr<File> create(const Path& path, Audience audience) = 0;
  virtual void rename(const Path& from, const Path& to) = 0;
  virtual void sync_folder(const Path& folder) = 0;
  /// Locks the file at `path`, which is made where it is missing. Throws Failure(locked) where another process holds
  /// it.
  [[nodiscard]] virtual std::unique_ptr<Lock> lock(const Path& path) = 0;
};

/// The whole content of a file; empty where the file is missing.
[[nodiscard]] inline std::string read_file_if_any(Disk& disk, const Disk::Path& path) {
  const auto file = disk.open(path, Access::read);
  if (!file) return {};
  std::string bytes(file->size(), '\0');
  bytes.resize(file->read(0, bytes));
  return bytes;
}

/// The file system of this machine.
[[nodiscard]] std::unique_ptr<Disk> posix_disk();

}  // namespace nustream::journal
