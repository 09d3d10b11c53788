// Key files: what is made, what is refused, and what is derived from them.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "expect_failure.h"
#include "secrets/hex.h"
#include "secrets/key_file.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

namespace fs = std::filesystem;

fs::path key_in(const TemporaryFolder& folder, const std::string& bytes, fs::perms mode = fs::perms::owner_read) {
  const fs::path path = folder.write("key", bytes);
  fs::permissions(path, mode);
  return path;
}

void expect_refused(const fs::path& path, const std::string& part) {
  expect_failure(
      Exit::permission, [&] { static_cast<void>(secrets::load_key_file(path)); }, part);
}

const std::string good_bytes = "0123456789abcdef0123456789abcdef";

TEST(KeyFile, IsMadeOnceForItsOwnerAlone) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "key";
  const mode_t before = ::umask(0);
  secrets::create_key_file(path);
  ::umask(before);
  const std::string bytes = read_file(path);
  EXPECT_EQ(bytes.size(), 32U);
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_TRUE(secrets::load_key_file(path).is_private());
  expect_failure(
      Exit::permission, [&] { secrets::create_key_file(path); }, "exists");
  EXPECT_EQ(read_file(path), bytes);
  secrets::create_key_file(folder.path() / "other");
  EXPECT_NE(read_file(folder.path() / "other"), bytes);
  expect_failure(Exit::permission, [&] { secrets::create_key_file(folder.path() / "missing/key"); });
}

/// Lets no file grow beyond `bytes` for the length of a scope, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  sighandler_t handler_;
};

// A half-written key under the final name would block its folder for ever: nobody dares to delete a key.
TEST(KeyFile, IsWholeOrNotThere) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "key";
  for (const rlim_t bytes : {0U, 1U, 31U}) {
    const FileSizeLimit full(bytes);
    expect_failure(
        Exit::io, [&] { secrets::create_key_file(path); }, "write key file");
    EXPECT_TRUE(fs::is_empty(folder.path())) << bytes << " bytes";
  }
  fs::create_symlink(folder.path() / "nowhere", path);
  expect_failure(
      Exit::permission, [&] { secrets::create_key_file(path); }, "exists");
  EXPECT_FALSE(fs::exists(path)) << "a link that leads nowhere is not followed";
  fs::remove(path);
  folder.write("key.abcdef.new", "what a crash left behind");
  secrets::create_key_file(path);
  EXPECT_TRUE(secrets::load_key_file(path).is_private());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 2);
}

// Many processes make the key at once: one of them succeeds, the others are told, and nobody sees a part of it.
TEST(KeyFile, IsMadeByOneOfManyAtOnce) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "key";
  std::atomic<int> made{0};
  std::atomic<int> told{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        try {
          secrets::create_key_file(path);
          ++made;
        } catch (const Failure& failure) {
          if (failure.code() == Exit::permission) ++told;
        }
        EXPECT_EQ(fs::file_size(path), 32U);
      });
    }
  }
  EXPECT_EQ(made, 1);
  EXPECT_EQ(told, 7);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
}

TEST(KeyFile, HasExactly32Bytes) {
  const TemporaryFolder folder;
  expect_refused(key_in(folder, good_bytes.substr(1)), "32 bytes");
  fs::remove(folder.path() / "key");
  expect_refused(key_in(folder, good_bytes + "\n"), "32 bytes");
  fs::remove(folder.path() / "key");
  expect_refused(key_in(folder, ""), "32 bytes");
}

TEST(KeyFile, IsNotAllZero) {
  const TemporaryFolder folder;
  expect_refused(key_in(folder, std::string(32, '\0')), "zero");
}

TEST(KeyFile, IsClosedToGroupAndOthers) {
  const TemporaryFolder folder;
  const fs::path path = key_in(folder, good_bytes);
  for (unsigned bit = 0; bit < 6; ++bit) {
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write | static_cast<fs::perms>(1U << bit));
    expect_refused(path, "group or others");
  }
  fs::permissions(path, fs::perms::owner_read);
  EXPECT_NO_THROW(static_cast<void>(secrets::load_key_file(path)));
}

// systemd with an access list, and Kubernetes with fsGroup, hand secrets over in this way.
TEST(KeyFile, MayBeReadByItsGroupWhereItIsRootsAndNobodyWritesIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make such a file";
  const TemporaryFolder folder;
  const fs::path path = key_in(folder, good_bytes);
  fs::permissions(path, fs::perms::owner_read | fs::perms::group_read);
  EXPECT_NO_THROW(static_cast<void>(secrets::load_key_file(path)));
  for (const fs::perms more : {fs::perms::group_write, fs::perms::group_exec, fs::perms::others_read,
                               fs::perms::others_write, fs::perms::others_exec, fs::perms::owner_write}) {
    fs::permissions(path, fs::perms::owner_read | fs::perms::group_read | more);
    expect_refused(path, "group or others");
  }
  fs::permissions(path, fs::perms::owner_read | fs::perms::group_read);
  ASSERT_EQ(::chown(path.c_str(), 12345, 0), 0);
  expect_refused(path, "group or others");
}

TEST(KeyFile, BelongsToTheUserOrToRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const TemporaryFolder folder;
  const fs::path path = key_in(folder, good_bytes);
  ASSERT_EQ(::chown(path.c_str(), 12345, 0), 0);
  expect_refused(path, "another user");
}

TEST(KeyFile, IsARegularFileThatIsThere) {
  const TemporaryFolder folder;
  expect_refused(folder.path() / "missing", "missing");
  expect_refused(folder.path(), "regular file");
  ASSERT_EQ(::mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
  expect_refused(folder.path() / "pipe", "regular file");
  fs::create_symlink(key_in(folder, good_bytes), folder.path() / "link");
  EXPECT_NO_THROW(static_cast<void>(secrets::load_key_file(folder.path() / "link")));
}

// The keys are Python's hashlib.blake2b(label, key=bytes(range(1, 33)), digest_size=…); the seed's keys follow
// docs/formats/key.md.
TEST(Keyring, DerivesTheKeysOfItsPage) {
  noise::KeyBytes master{};
  std::iota(master.begin(), master.end(), std::uint8_t{1});
  const auto keys = secrets::Keyring::from_master(master);
  EXPECT_EQ(secrets::to_hex(keys.sealing_key()), "c620ea013fb40152b623e132c235cd42a8b22fe227c67ceaf2661cd1f46c67f1");
  EXPECT_EQ(secrets::to_hex(keys.ledger_key()), "46997734c1ee03c84ff4d49a0a0a2cb7bf8e03e661219b64239235119490b884");
  EXPECT_EQ(secrets::to_hex(keys.fingerprint()), "a0e82e8bed9a3938ef2adbec87469b1e");
  const auto seeded = secrets::Keyring::insecure(7);
  EXPECT_EQ(secrets::to_hex(seeded.fingerprint()), "54b49d2783052a250c01ec9533d31095");
  EXPECT_EQ(secrets::to_hex(seeded.epoch_key("retail")),
            "755037e795494bc1d3085459ae44bd5771f56a98437ff4036cc024a42b09cb93");
}

// Two runs over two files with the same key file share no noise; under a seed they share all of it.
TEST(Keyring, DrawsFreshEpochKeysButForASeed) {
  noise::KeyBytes master{1};
  const auto keys = secrets::Keyring::from_master(master);
  EXPECT_NE(keys.epoch_key("retail"), keys.epoch_key("retail"));
  const auto seeded = secrets::Keyring::insecure(7);
  EXPECT_FALSE(seeded.is_private());
  EXPECT_EQ(seeded.epoch_key("retail"), secrets::Keyring::insecure(7).epoch_key("retail"));
  EXPECT_NE(seeded.epoch_key("retail"), secrets::Keyring::insecure(8).epoch_key("retail"));
  EXPECT_NE(seeded.epoch_key("retail"), seeded.epoch_key("wholesale"));
}

TEST(Hex, ReadsBackWhatItWroteAndNothingElse) {
  const std::vector<std::uint8_t> bytes{0, 15, 16, 255};
  EXPECT_EQ(secrets::to_hex(bytes), "000f10ff");
  std::vector<std::uint8_t> out(4);
  EXPECT_TRUE(secrets::from_hex("000f10ff", out));
  EXPECT_EQ(out, bytes);
  for (const char* wrong : {"000f10f", "000f10ff0", "000F10ff", "000g10ff", ""})
    EXPECT_FALSE(secrets::from_hex(wrong, out));
}

}  // namespace
}  // namespace nustream::tests
