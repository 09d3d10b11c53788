// Where keys are made and found, and whose folders are trusted.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "expect_failure.h"
#include "secrets/folder_trust.h"
#include "secrets/key_file.h"
#include "secrets/key_place.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

namespace fs = std::filesystem;

/// Sets HOME and XDG_CONFIG_HOME as a test says, and puts them back behind it.
class Variables {
 public:
  Variables(const char* home, const char* config) {
    set("HOME", home, home_);
    set("XDG_CONFIG_HOME", config, config_);
  }
  ~Variables() {
    put("HOME", home_);
    put("XDG_CONFIG_HOME", config_);
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  static void put(const char* name, const std::optional<std::string>& value) {
    value ? ::setenv(name, value->c_str(), 1) : ::unsetenv(name);
  }
  static void set(const char* name, const char* value, std::optional<std::string>& before) {
    if (const char* const was = std::getenv(name)) before = was;
    put(name, value == nullptr ? std::nullopt : std::optional<std::string>(value));
  }
  std::optional<std::string> home_;
  std::optional<std::string> config_;
};

class KeyPlace : public ::testing::Test {
 protected:
  KeyPlace() { fs::create_directories(folder.path() / "runs/mine"); }
  [[nodiscard]] fs::path state() const { return folder.path() / "runs/mine"; }
  [[nodiscard]] fs::path keys() const { return folder.path() / "keys"; }
  [[nodiscard]] secrets::KeySettings settings() const { return {{}, keys()}; }
  const TemporaryFolder folder;
};

TEST_F(KeyPlace, FollowsTheSettingTheVariablesAndTheHome) {
  const std::string home = folder.path().string();
  {
    const Variables variables(home.c_str(), nullptr);
    EXPECT_EQ(secrets::key_directory(""), folder.path() / ".config/nustream");
    EXPECT_EQ(secrets::key_directory("keys"), "keys");
  }
  {
    const Variables variables(home.c_str(), "/etc/xdg");
    EXPECT_EQ(secrets::key_directory(""), "/etc/xdg/nustream");
  }
  {
    const Variables variables(home.c_str(), "relative");
    EXPECT_EQ(secrets::key_directory(""), folder.path() / ".config/nustream") << "the XDG specification: ignored";
  }
  for (const char* none : {static_cast<const char*>(nullptr), "", "/nowhere/at/all", "relative"}) {
    const Variables variables(none, nullptr);
    expect_failure(
        Exit::permission, [] { static_cast<void>(secrets::key_directory("")); }, "state.key_directory");
  }
}

TEST_F(KeyPlace, OfANewFolderIsOutsideAndKnownToIt) {
  const fs::path key = secrets::make_key_file(state(), "mine", settings());
  EXPECT_EQ(key.parent_path(), fs::canonical(keys()));
  EXPECT_EQ(fs::status(keys()).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::read_symlink(state() / "key"), key);
  EXPECT_FALSE(secrets::lies_in(key, state()));
  EXPECT_EQ(secrets::key_file_of(state(), "mine", {}), key);
  EXPECT_EQ(secrets::make_key_file(state(), "mine", settings()), key) << "made once";
  fs::remove(state() / "key");
  EXPECT_EQ(secrets::key_file_of(state(), "mine", settings()), key) << "a backup without links";
  const std::string bytes = read_file(key);
  EXPECT_EQ(secrets::make_key_file(state(), "mine", settings()), key) << "a folder that was made again";
  EXPECT_EQ(read_file(key), bytes);
}

// Streams of one name in two folders have two keys.
TEST_F(KeyPlace, IsAnotherOneForEachFolder) {
  fs::create_directories(folder.path() / "runs/other");
  const fs::path one = secrets::make_key_file(state(), "mine", settings());
  const fs::path other = secrets::make_key_file(folder.path() / "runs/other", "mine", settings());
  EXPECT_NE(one, other);
  EXPECT_NE(read_file(one), read_file(other));
  EXPECT_EQ(secrets::key_file_name("mine", state()), secrets::key_file_name("mine", state() / ""));
  EXPECT_EQ(secrets::key_file_name("mine", state()), secrets::key_file_name("mine", state() / "../mine"));
  EXPECT_NE(secrets::key_file_name("mine", state()), secrets::key_file_name("yours", state()));
}

TEST_F(KeyPlace, OfAnOldFolderStaysInside) {
  secrets::create_key_file(state() / "key");
  EXPECT_EQ(secrets::make_key_file(state(), "mine", settings()), state() / "key");
  EXPECT_TRUE(secrets::lies_in(secrets::key_file_of(state(), "mine", settings()), state()));
  EXPECT_FALSE(fs::exists(keys()));
}

TEST_F(KeyPlace, IsTheSettingsWhereTheyNameAFile) {
  const secrets::KeySettings named{"/etc/nustream/key", keys()};
  EXPECT_EQ(secrets::make_key_file(state(), "mine", named), "/etc/nustream/key");
  EXPECT_FALSE(fs::exists(fs::symlink_status(state() / "key")));
  secrets::create_key_file(state() / "key");
  EXPECT_EQ(secrets::key_file_of(state(), "mine", named), "/etc/nustream/key");
}

TEST_F(KeyPlace, ThatIsNoneIsToldWithAWayOut) {
  folder.write("keys", "a file");
  expect_failure(
      Exit::permission, [&] { static_cast<void>(secrets::make_key_file(state(), "mine", settings())); },
      "state.key_directory");
  const secrets::KeySettings inside{{}, state() / "keys"};
  expect_failure(
      Exit::permission, [&] { static_cast<void>(secrets::make_key_file(state(), "mine", inside)); }, "lies in");
  EXPECT_FALSE(fs::exists(fs::symlink_status(state() / "key")));
}

TEST_F(KeyPlace, IsNotAFolderThatOthersWriteTo) {
  fs::create_directory(keys());
  for (const mode_t mode : {0770U, 0707U, 01777U, 0720U}) {
    ASSERT_EQ(::chmod(keys().c_str(), mode), 0);
    expect_failure(
        Exit::permission, [&] { static_cast<void>(secrets::make_key_file(state(), "mine", settings())); },
        "writable by others");
  }
  ASSERT_EQ(::chmod(keys().c_str(), 0755), 0);
  EXPECT_NO_THROW(static_cast<void>(secrets::make_key_file(state(), "mine", settings())));
}

TEST_F(KeyPlace, LiesInAFolderAlsoThroughLinks) {
  fs::create_directory_symlink(state(), folder.path() / "link");
  EXPECT_TRUE(secrets::lies_in(folder.path() / "link/key", state()));
  EXPECT_TRUE(secrets::lies_in(state() / "key", folder.path() / "link"));
  EXPECT_TRUE(secrets::lies_in(state() / "deeper/key", state()));
  EXPECT_FALSE(secrets::lies_in(folder.path() / "runs/mine-2/key", state()));
  EXPECT_FALSE(secrets::lies_in(folder.path() / "runs/key", state()));
}

TEST(FolderTrust, IsForTheUsersOwnAndRoots) {
  const TemporaryFolder folder;
  const auto ask = [&] { secrets::require_trusted(folder.path(), "the folder", "name another one"); };
  for (const mode_t mode : {0700U, 0755U, 01755U, 02755U}) {
    ASSERT_EQ(::chmod(folder.path().c_str(), mode), 0);
    EXPECT_NO_THROW(ask()) << std::oct << mode;
  }
  for (const mode_t mode : {0720U, 0702U, 01777U, 02775U}) {
    ASSERT_EQ(::chmod(folder.path().c_str(), mode), 0);
    expect_failure(Exit::permission, ask, "writable by others");
  }
  ASSERT_EQ(::chmod(folder.path().c_str(), 0700), 0);
  EXPECT_NO_THROW(secrets::require_trusted(folder.path() / "missing", "the folder", ""))
      << "told by whoever opens it";
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(::chown(folder.path().c_str(), 12345, 0), 0);
  expect_failure(Exit::permission, ask, "another user");
}

// Somebody who can rename a folder above can put another one in its place; under a sticky bit he can only rename his
// own.
TEST(FolderTrust, IsAlsoForWhatLiesAbove) {
  const TemporaryFolder folder;  // a folder below /tmp, for example, which is sticky
  fs::create_directories(folder.path() / "above/keys");
  fs::create_directory(folder.path() / "links");
  fs::create_directory_symlink(folder.path() / "above/keys", folder.path() / "links/keys");
  const auto ask = [&](const char* path) {
    secrets::require_trusted_above(folder.path() / path, "the folder", "name another one");
  };
  for (const char* shared : {"above", "links"}) {
    for (const mode_t mode : {0755U, 01777U, 01775U}) {
      ASSERT_EQ(::chmod((folder.path() / shared).c_str(), mode), 0);
      EXPECT_NO_THROW(ask("links/keys")) << shared << ' ' << std::oct << mode;
    }
    for (const mode_t mode : {0777U, 0775U, 0702U}) {
      ASSERT_EQ(::chmod((folder.path() / shared).c_str(), mode), 0);
      expect_failure(
          Exit::permission, [&] { ask("links/keys"); }, "writable by others");
    }
    ASSERT_EQ(::chmod((folder.path() / shared).c_str(), 0700), 0);
  }
  EXPECT_NO_THROW(ask("missing/keys"));
  ASSERT_EQ(::chmod((folder.path() / "above").c_str(), 0777), 0);
  EXPECT_NO_THROW(ask("above")) << "the folder itself is asked elsewhere";
  expect_failure(
      Exit::permission, [&] { ask("above/keys/not/yet"); }, "writable by others");
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(::chmod((folder.path() / "above").c_str(), 0700), 0);
  ASSERT_EQ(::chown((folder.path() / "above").c_str(), 12345, 0), 0);
  expect_failure(
      Exit::permission, [&] { ask("links/keys"); }, "another user's folder");
}

TEST_F(KeyPlace, IsNotBelowAFolderThatOthersWriteTo) {
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  expect_failure(
      Exit::permission, [&] { static_cast<void>(secrets::make_key_file(state(), "mine", settings())); },
      "put another folder in its place");
  EXPECT_FALSE(fs::exists(fs::symlink_status(state() / "key")));
  ASSERT_EQ(::chmod(folder.path().c_str(), 0700), 0);
  EXPECT_NO_THROW(static_cast<void>(secrets::make_key_file(state(), "mine", settings())));
}

}  // namespace
}  // namespace nustream::tests
