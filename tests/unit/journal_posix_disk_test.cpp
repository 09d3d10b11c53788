// The failures of the real file system as the journal sees them, and that a journal which failed writes no more.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "expect_failure.h"
#include "journal/disk.h"
#include "journal/file_journal.h"
#include "simulated_disk.h"
#include "temporary_folder.h"
#include "toy_lane.h"

namespace nustream::tests {
namespace {

namespace fs = std::filesystem;

std::string value_of(std::uint64_t step) {
  return std::to_string(step);
}

TEST(PosixDisk, ReadsWritesAndCuts) {
  const TemporaryFolder folder;
  const auto disk = journal::posix_disk();
  const fs::path path = folder.path() / "file";
  EXPECT_EQ(disk->open(path, journal::Access::read), nullptr);
  const auto file = disk->create(path, journal::Audience::operators);
  file->write(0, "0123456789");
  file->write(4, "abc");
  file->truncate(8);
  file->sync();
  std::string bytes(20, '?');
  bytes.resize(file->read(2, bytes));
  EXPECT_EQ(bytes, "23abc7");
  EXPECT_EQ(disk->open(path, journal::Access::read)->size(), 8U);
  disk->rename(path, folder.path() / "other");
  disk->sync_folder(folder.path());
  EXPECT_EQ(read_file(folder.path() / "other"), "0123abc7");
}

TEST(PosixDisk, NeverEmptiesAFileThatHasAnotherName) {
  const TemporaryFolder folder;
  const auto disk = journal::posix_disk();
  static_cast<void>(folder.write("state.new", "kept"));
  fs::create_hard_link(folder.path() / "state.new", folder.path() / "state");
  static_cast<void>(disk->create(folder.path() / "state.new", journal::Audience::operators));
  EXPECT_EQ(read_file(folder.path() / "state"), "kept");
}

// The child runs as a user who may not look at the working folder.
TEST(PosixDiskDeathTest, AFolderBelowOneThatCannotBeLookedAtIsAFailure) {
  const TemporaryFolder folder;
  EXPECT_EXIT(
      {
        fs::current_path(folder.path());
        ::chmod(folder.path().c_str(), 0);
        if (::geteuid() == 0) static_cast<void>(::setresuid(65534, 65534, 65534));  // root may look at any folder
        expect_failure(
            Exit::io, [] { journal::posix_disk()->make_folder("runs/orders"); }, "cannot make folder runs");
        ::_exit(::testing::Test::HasFailure() ? 1 : 0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(PosixDisk, MakesFoldersForTheUserAlone) {
  const TemporaryFolder folder;
  const mode_t before = ::umask(0);
  journal::posix_disk()->make_folder(folder.path() / "a" / "b");
  ::umask(before);
  EXPECT_EQ(fs::status(folder.path() / "a").permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(folder.path() / "a" / "b").permissions(), fs::perms::owner_all);
}

TEST(PosixDisk, SaysWhatFailedAndWhere) {
  const TemporaryFolder folder;
  const auto disk = journal::posix_disk();
  const auto full = disk->open("/dev/full", journal::Access::write);
  expect_failure(
      Exit::io, [&] { full->write(0, "x"); }, "/dev/full: No space left on device");
  expect_failure(Exit::io, [&] { static_cast<void>(disk->open(folder.path(), journal::Access::write)); });
  expect_failure(
      Exit::io, [&] { disk->rename(folder.path() / "missing", folder.path() / "x"); }, "missing");
  expect_failure(
      Exit::io, [&] { disk->sync_folder(folder.path() / "missing"); }, "missing");
  expect_failure(Exit::io,
                 [&] { static_cast<void>(disk->create(folder.path() / "no/file", journal::Audience::everyone)); });
}

/// Limits the files of this process to `bytes` while the object lives: a write beyond that fails as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    static_cast<void>(std::signal(SIGXFSZ, signal_));
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*signal_)(int);
};

TEST(PosixDisk, AFailedWriteStopsTheJournal) {
  const TemporaryFolder folder;
  const auto disk = journal::posix_disk();
  journal::FileJournal files(*disk, {.folder = folder.path(), .is_private = false, .rejects = true});
  ToyLane lane(secrets::Keyring::insecure(1), "toy");
  ASSERT_FALSE(files.load());
  const FileSizeLimit limit(16);
  expect_failure(
      Exit::io, [&] { commit_and_wait(files, lane.batch(2, files.bookmark(), value_of)); }, "File too large");
}

// Somebody who can put a link into the folder must not make a run write to, or truncate, a file elsewhere.
TEST(PosixDisk, FollowsNoSymbolicLink) {
  const TemporaryFolder folder;
  const auto disk = journal::posix_disk();
  for (const char* name : {"releases.jsonl", "ledger", "state", "lock"}) {
    const fs::path run = folder.path() / (std::string("run-") + name);
    fs::create_directory(run);
    folder.write("elsewhere", "mine\n");
    fs::create_symlink(folder.path() / "elsewhere", run / name);
    journal::FileJournal files(*disk, {.folder = run, .is_private = false});
    expect_failure(
        Exit::io, [&] { static_cast<void>(files.load()); }, "symbolic link");
    EXPECT_EQ(read_file(folder.path() / "elsewhere"), "mine\n");
  }
}

TEST(PosixDisk, FollowsNoSymbolicLinkToRejects) {
  const TemporaryFolder folder;
  folder.write("elsewhere", "mine\n");
  fs::create_directory(folder.path() / "run");
  fs::create_symlink(folder.path() / "elsewhere", folder.path() / "run" / "rejects.jsonl");
  const auto disk = journal::posix_disk();
  journal::FileJournal files(*disk, {.folder = folder.path() / "run", .is_private = false, .rejects = true});
  ToyLane lane(secrets::Keyring::insecure(1), "toy");
  ASSERT_FALSE(files.load());
  expect_failure(
      Exit::io, [&] { commit_and_wait(files, lane.batch(2, files.bookmark(), value_of)); }, "symbolic link");
  EXPECT_EQ(read_file(folder.path() / "elsewhere"), "mine\n");
}

// Whichever call fails, nothing is written after it, and a sync that failed is never tried again. Writes and syncs of
// rejects.jsonl are the exception: they depend on data, so when one of them fails the rejects are given up and the
// run goes on.
TEST(FileJournal, WritesNothingAfterAFailure) {
  std::uint64_t failures = 0;
  for (std::uint64_t fail_at = 1; fail_at <= 40; ++fail_at) {
    SimulatedDisk disk(fail_at);
    disk.start_process({.crash_at = 0, .fail_at = fail_at});
    journal::FileJournal files(disk, {.folder = "/run", .is_private = false, .rejects = true});
    ToyLane lane(secrets::Keyring::insecure(1), "toy");
    ASSERT_FALSE(files.load());
    try {
      for (int i = 0; i < 4; ++i) commit_and_wait(files, lane.batch(2, files.bookmark(), value_of));
      flush_and_wait(files);
    } catch (const Failure&) {
      ++failures;
      const std::uint64_t calls = disk.calls();
      EXPECT_EQ(calls, fail_at);
      expect_failure(Exit::io, [&] { commit_and_wait(files, lane.batch(2, files.bookmark(), value_of)); });
      expect_failure(Exit::io, [&] { flush_and_wait(files); });
      EXPECT_EQ(disk.calls(), calls);
    }
  }
  EXPECT_EQ(failures, 32U) << "of 40 calls eight are for the rejects: two for each batch of them";
}

}  // namespace
}  // namespace nustream::tests
