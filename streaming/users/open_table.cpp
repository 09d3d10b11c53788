// Chooses between the two tables of users: Table in memory and DiskTable in a folder. A command that only looks gets
// a disk table below $TMPDIR, so that it never touches the table of a lane that may be running.
#include "users/open_table.h"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

#include "error.h"
#include "nustream/users/table.h"
#include "users/disk_table.h"

namespace nustream::users {
namespace {

namespace fs = std::filesystem;

/// A folder below $TMPDIR, which is deleted with the object.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code error;
    path_ = (fs::temp_directory_path(error) / "nustream-users-XXXXXX").string();
    if (error) throw system_failure(Exit::io, "use", "$TMPDIR", error.value(), "name a folder by TMPDIR");
    // mkdtemp() makes the folder for this user alone, under a name that nobody can have prepared.
    if (::mkdtemp(path_.data()) == nullptr)
      throw system_failure(Exit::io, "make", path_, errno, "name another folder by TMPDIR");
  }
  ~ScratchFolder() {
    // A destructor must not throw. What it cannot delete is sealed, like every table on disk.
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

/// A table in such a folder. The table ends before its folder does.
class ScratchTable final : public Standings {
 public:
  explicit ScratchTable(const UserKey& key) : table_(fs::path(folder_.path()) / "users", key) {}

  [[nodiscard]] std::size_t size() const noexcept override { return table_.size(); }
  [[nodiscard]] Standing find(const UserHash& user) const override { return table_.find(user); }
  [[nodiscard]] Entry entry_of(const UserHash& user) const override { return table_.entry_of(user); }
  void visit_part(unsigned part, const Visit& visit) const override { table_.visit_part(part, visit); }
  // mark() is not forwarded. The scratch folder is new, so that there is never a mark to go on from.
  void take(std::span<const Change> changes, bool emptied, std::string_view mark) override {
    table_.take(changes, emptied, mark);
  }
  void put(std::span<const Entry> entries) override { table_.put(entries); }
  void clear() override { table_.clear(); }
  void change_all(const Carry& carry) override { table_.change_all(carry); }
  void settle(std::size_t users, std::string_view mark) override { table_.settle(users, mark); }

 private:
  // Members are destroyed in reverse order: the table closes its files before the folder with them is deleted.
  ScratchFolder folder_;
  DiskTable table_;
};

}  // namespace

fs::path table_folder(const fs::path& state, LaneId lane) {
  return state / ("users-" + std::to_string(lane.value()) + ".table");
}

void forget_table(const fs::path& state, LaneId lane) {
  const fs::path folder = table_folder(state, lane);
  std::error_code error;
  // The lock beside the folder stays. If it were deleted, two processes could hold locks on two files of one name.
  fs::remove_all(folder, error);
  if (error) throw system_failure(Exit::io, "delete", folder.string(), error.value(), "check its owner and mode");
}

std::unique_ptr<Standings> open_table(bool on_disk, const fs::path& state, LaneId lane, const UserKey& key) {
  if (on_disk) return std::make_unique<DiskTable>(table_folder(state, lane), key);
  return std::make_unique<Table>();
}

std::unique_ptr<Standings> scratch_table(bool on_disk, const UserKey& key) {
  if (on_disk) return std::make_unique<ScratchTable>(key);
  return std::make_unique<Table>();
}

}  // namespace nustream::users
