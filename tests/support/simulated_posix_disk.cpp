// This file is linked before the library's own: the program's file system is then the simulated one.
#include "simulated_disk.h"

namespace nustream::tests {
namespace {

/// Gives each process that asks for a disk the same one.
class SharedDisk final : public journal::Disk {
 public:
  explicit SharedDisk(SimulatedDisk& disk) : disk_(disk) {}

  void make_folder(const Path& folder) override { disk_.make_folder(folder); }
  std::unique_ptr<journal::File> open(const Path& path, journal::Access access) override {
    return disk_.open(path, access);
  }
  std::unique_ptr<journal::File> create(const Path& path, journal::Audience audience) override {
    return disk_.create(path, audience);
  }
  void rename(const Path& from, const Path& to) override { disk_.rename(from, to); }
  void require_trusted(const Path& folder) override { disk_.require_trusted(folder); }
  void sync_folder(const Path& folder) override { disk_.sync_folder(folder); }
  std::unique_ptr<journal::Lock> lock(const Path& path) override { return disk_.lock(path); }

 private:
  SimulatedDisk& disk_;
};

}  // namespace

SimulatedDisk*& present_disk() {
  static SimulatedDisk* disk = nullptr;
  return disk;
}

}  // namespace nustream::tests

std::unique_ptr<nustream::journal::Disk> nustream::journal::posix_disk() {
  return std::make_unique<tests::SharedDisk>(*tests::present_disk());
}
