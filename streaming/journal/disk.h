// What the file journal asks of a disk, and nothing more: so that tests can put one in its place that loses power.
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

/// An open file. Every call throws Failure(io) where the system refuses. A write is durable after sync() only; after
/// a sync that failed nobody knows what is, so it is never tried again.
class File {
 public:
  virtual ~File() = default;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Reads up to out.size() bytes from `offset`; fewer at the end of the file only. Returns how many.
  virtual std::size_t read(std::uint64_t offset, std::span<char> out) const = 0;
  virtual void write(std::uint64_t offset, std::string_view bytes) = 0;
  virtual void truncate(std::uint64_t size) = 0;
  virtual void sync() = 0;
};

/// A lock that ends with the object or the process.
class Lock {
 public:
  virtual ~Lock() = default;
};

/// A file system. Names become durable by sync_folder() only. One thread at a time.
class Disk {
 public:
  using Path = std::filesystem::path;

  virtual ~Disk() = default;
  /// Makes the folder and those above it where they are missing, for the user alone, durably.
  virtual void make_folder(const Path& folder) = 0;
  /// Failure(permission) where the folder is another user's, or writable by others. A missing one is no failure.
  virtual void require_trusted(const Path& folder) = 0;
  /// An existing file, or nothing; Failure(permission) where it is another user's, or writable by others. Without
  /// Access::write it is never changed.
  [[nodiscard]] virtual std::unique_ptr<File> open(const Path& path, Access access) = 0;
  /// Makes a new, empty file; one of that name is unlinked, never emptied.
  [[nodiscard]] virtual std::unique_ptr<File> create(const Path& path, Audience audience) = 0;
  virtual void rename(const Path& from, const Path& to) = 0;
  virtual void sync_folder(const Path& folder) = 0;
  /// Takes the lock file, made where missing. Failure(locked) where another run holds it.
  [[nodiscard]] virtual std::unique_ptr<Lock> lock(const Path& path) = 0;
};

/// The whole of a file; empty where it is missing.
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
