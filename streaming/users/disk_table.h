// The table of users in a folder, by RocksDB: for tables that memory does not hold (docs/formats/users.md).
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "nustream/users/standings.h"
#include "users/user_key.h"

namespace nustream::users {

/// A copy of what the store of users says. A run that opens the table compares its digest with the lane's state, and
/// makes the table anew from the store where they differ (rebuild.h). So no commit waits until the disk has the
/// table, and after a power failure the table may be an older one.
///
/// A batch's changes and its mark are one atomic write. Any other change takes the mark away first. Its files are
/// sealed under the users' key (sealed_files.h).
///
/// A look-up reads the disk where no cache helps, about 1e5 of them a second in all. All tables of a process share
/// some 400 MB of memory, whatever the number of users. Members throw Failure(io) where the disk refuses or is full,
/// and DamagedTable where files are not what was written. To be used by one thread at a time.
class DiskTable final : public Standings {
 public:
  /// Opens what the folder holds. The table is empty where there was none, and where it cannot be opened under this
  /// key. The folder is made where it is not there, with a lock beside it. Throws Failure(locked) where the table
  /// stays open elsewhere for `patience`, since a lane that this process hands over may still be closing it.
  DiskTable(std::filesystem::path folder, const UserKey& key,
            std::chrono::milliseconds patience = std::chrono::seconds(10));
  ~DiskTable() override;
  DiskTable(const DiskTable&) = delete;
  DiskTable& operator=(const DiskTable&) = delete;
  DiskTable(DiskTable&&) = delete;
  DiskTable& operator=(DiskTable&&) = delete;

  [[nodiscard]] std::size_t size() const noexcept override;
  [[nodiscard]] Standing find(const UserHash& user) const override;
  [[nodiscard]] Entry entry_of(const UserHash& user) const override;
  void visit_part(unsigned part, const Visit& visit) const override;
  void take(std::span<const Change> changes, bool emptied, std::string_view mark) override;
  [[nodiscard]] std::string mark() const override;
  void put(std::span<const Entry> entries) override;
  /// Deletes the folder's files.
  void clear() override;
  void change_all(const Carry& carry) override;
  void settle(std::size_t users, std::string_view mark) override;

 private:
  struct Database;

  std::filesystem::path folder_;
  std::unique_ptr<Database> database_;
};

}  // namespace nustream::users
