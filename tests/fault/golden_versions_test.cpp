// What earlier versions left behind is continued: the folders in tests/golden/versions, each made once by its
// version. Those with a key beside them are of private runs, with their witness and perhaps an account; the others
// are under an insecure seed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "command.h"
#include "journal/state_record.h"
#include "release_text.h"
#include "secrets/fields.h"
#include "secrets/key_file.h"
#include "secrets/seal.h"

namespace nustream::tests {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint64_t stopped = 600;  // where a version left off, of so many rows:
constexpr std::uint64_t rows = 1000;

bool has_key(const fs::path& folder) {
  return fs::exists(folder / "golden.key");
}
bool has_account(const fs::path& folder) {
  return fs::exists(folder / "people");
}

/// The folders of all versions of which `is_wanted` is true.
std::vector<fs::path> folders_with(const std::function<bool(const fs::path&)>& is_wanted) {
  std::vector<fs::path> folders;
  for (const auto& version : fs::directory_iterator(fs::path(NUSTREAM_TESTS_DIR) / "golden/versions")) {
    for (const auto& folder : fs::directory_iterator(version)) {
      if (folder.is_directory() && is_wanted(folder.path())) folders.push_back(folder.path());
    }
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::string name_of(const ::testing::TestParamInfo<fs::path>& test) {
  std::string name = test.param.parent_path().filename().string() + "_" + test.param.filename().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '.' || c == '-'; }, '_');
  return name;
}

class Versions : public ::testing::TestWithParam<fs::path> {
 protected:
  /// Copies what a version left, which a test may change. Keys that others can read and folders that others can write
  /// to would be refused, whatever a checkout made of them.
  Versions() {
    fs::copy(GetParam().parent_path(), folder_.path() / "version", fs::copy_options::recursive);
    here_ = folder_.path() / "version" / GetParam().filename();
    for (const auto& file : fs::recursive_directory_iterator(here_)) {
      fs::permissions(file,
                      file.is_directory() ? fs::perms::owner_all : fs::perms::owner_read | fs::perms::owner_write);
    }
    fs::permissions(here_, fs::perms::owner_all);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (here_ / name).string(); }
  [[nodiscard]] CommandResult replay(const std::string& state, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{"replay", path("stream.toml"), "--set",
                                       "state.directory=\"" + path(state) + "\""};
    if (has_key(here_)) {
      arguments.insert(arguments.end(), {"--set", "state.key_file=\"" + path("golden.key") + "\""});
    } else {
      arguments.insert(arguments.end(), {"--insecure-seed", "11"});
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_command(NUSTREAM_COMMAND, arguments);
  }
  [[nodiscard]] std::string releases(const std::string& state) const {
    return read_file(here_ / state / "releases.jsonl");
  }

  TemporaryFolder folder_;
  fs::path here_;
};

TEST_P(Versions, AreGoneOnWith) {
  const std::string before = releases("state");
  ASSERT_FALSE(before.empty());
  const CommandResult resumed = replay("state", {"--resume"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  const std::string after = releases("state");
  EXPECT_TRUE(after.starts_with(before)) << "what was published stays, byte for byte";
  EXPECT_GT(after.size(), before.size());
  const CommandResult whole = replay("undisturbed", {});
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_EQ(estimates_in(after), estimates_in(releases("undisturbed"))) << "as if one version had done it all";
}

TEST_P(Versions, AreInspectedAndBeginANewEpoch) {
  const CommandResult inspected = run_command(NUSTREAM_COMMAND, {"inspect", path("state"), "--insecure-seed", "11"});
  EXPECT_EQ(inspected.code, 0) << inspected.err;
  const CommandResult renewed = replay("state", {"--new-epoch"});
  ASSERT_EQ(renewed.code, 0) << renewed.err;
  EXPECT_THAT(releases("state"), HasSubstr("\"epoch\":1"));
}

/// The format of a state's record, which is its first field.
std::uint32_t format_of(const std::string& record) {
  return secrets::FieldReader(record, "no record").integer<std::uint32_t>();
}

// Where a version comes to write another format, tests/golden/make_version.py is run again.
TEST(NewestVersion, HasTheFormatThatIsWrittenNow) {
  const secrets::Keyring keys = secrets::Keyring::insecure(11);
  std::uint32_t newest = 0;
  for (const fs::path& folder : folders_with(std::not_fn(has_key))) {
    newest = std::max(newest, format_of(secrets::open(keys, read_file(folder / "state/state")).plain));
  }
  EXPECT_EQ(newest, format_of(journal::encode_record({})));
}

INSTANTIATE_TEST_SUITE_P(All, Versions, ::testing::ValuesIn(folders_with(std::not_fn(has_key))), name_of);

class PrivateVersions : public Versions {
 protected:
  [[nodiscard]] CommandResult replay_in(const std::string& state, std::vector<std::string> more) const {
    if (has_account(here_)) more.insert(more.end(), {"--set", "privacy.account=\"" + path("people") + "\""});
    return replay(state, more);
  }
  [[nodiscard]] journal::State opened() const {
    return journal::open_state(secrets::load_key_file(path("golden.key")), read_file(here_ / "state/state"));
  }
  [[nodiscard]] std::string inspected() const {
    const CommandResult result =
        run_command(NUSTREAM_COMMAND, {"inspect", path("state"), "--key-file", path("golden.key"), "--json"});
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  }
  [[nodiscard]] std::string witness() const {
    for (const auto& file : fs::directory_iterator(here_)) {
      if (file.path().extension() == ".witness") return file.path().string();
    }
    ADD_FAILURE() << "no witness in " << here_;
    return {};
  }
};

// Fresh noise is nobody's to compare. But what was published stays, the keys of steps that are read again stay, a
// segment begins with the resume, and what both versions have released and charged is one chain.
TEST_P(PrivateVersions, AreGoneOnWith) {
  const std::string before = releases("state");
  ASSERT_FALSE(before.empty());
  const journal::State left = opened();
  ASSERT_EQ(left.identity.steps, StepCount{stopped});
  EXPECT_NE(left.record.account, journal::AccountId{});
  const CommandResult resumed = replay_in("state", {"--resume"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  const std::string after = releases("state");
  EXPECT_TRUE(after.starts_with(before));
  EXPECT_GT(after.size(), before.size());
  const journal::State now = opened();
  EXPECT_EQ(now.identity.steps, StepCount{rows});
  EXPECT_EQ(now.record.account, left.record.account);
  const noise::Checkpoint& old = left.record.noise.stages.at(0);
  const noise::Checkpoint& kept = now.record.noise.stages.at(0);
  EXPECT_EQ(kept.segments.back().first, StepIndex{stopped});
  if (old.memory.empty()) {
    ASSERT_EQ(kept.segments.size(), old.segments.size() + 1);
    for (std::size_t i = 0; i < old.segments.size(); ++i) {
      EXPECT_EQ(kept.segments[i].first, old.segments[i].first);
      EXPECT_EQ(kept.segments[i].chain_key, old.segments[i].chain_key);
    }
  }
  simdjson::dom::parser parser;
  const std::string key(parser.parse(inspected())["public_key"].get_string().value());
  const CommandResult verified = run_command(
      NUSTREAM_COMMAND, {"verify", path("state/releases.jsonl"), path("state/ledger"), "--public-key", key});
  EXPECT_EQ(verified.code, 0) << verified.err;
}

// The copy from before the last resume is older than what the version's witness tells.
TEST_P(PrivateVersions, AreComparedWithTheirWitness) {
  EXPECT_THAT(inspected(), HasSubstr("\"witness\":\"" + witness() + "\""));
  const CommandResult older = replay_in("before", {"--resume"});
  EXPECT_EQ(older.code, 65);
  EXPECT_THAT(older.err, AllOf(HasSubstr("holds an older state (epoch 0, step 200)"),
                               HasSubstr("(epoch 0, step 600, as " + witness() + " tells)")));
}

TEST_P(PrivateVersions, BeginANewEpoch) {
  const CommandResult renewed = replay_in("state", {"--new-epoch"});
  ASSERT_EQ(renewed.code, 0) << renewed.err;
  EXPECT_THAT(releases("state"), HasSubstr("\"epoch\":1"));
}

INSTANTIATE_TEST_SUITE_P(All, PrivateVersions, ::testing::ValuesIn(folders_with(has_key)), name_of);

class VersionsWithAnAccount : public PrivateVersions {
 protected:
  struct Charged {
    double total = 0;
    std::vector<double> spent;
  };
  [[nodiscard]] Charged charged() const {
    const CommandResult result = run_command(NUSTREAM_COMMAND, {"account", "show", path("people"), "--json"});
    EXPECT_EQ(result.code, 0) << result.err;
    simdjson::dom::parser parser;
    const simdjson::dom::element shown = parser.parse(result.out);
    Charged all{shown["total"].get_double().value(), {}};
    for (const auto member : shown["members"].get_array()) all.spent.push_back(member["spent"].get_double().value());
    return all;
  }
};

// The folder lies at another place than when it was charged. So it is charged as another member, for what it had
// spent before as well, beside the line of its old place.
TEST_P(VersionsWithAnAccount, AreChargedBesideWhatTheAccountHolds) {
  const std::string lines = read_file(here_ / "people");
  const Charged before = charged();
  ASSERT_EQ(before.spent.size(), 1U);
  EXPECT_GT(before.total, 0.4);
  EXPECT_EQ(before.total, before.spent[0]);
  EXPECT_EQ(replay("state", {"--resume"}).code, 78) << "its file account-member names an account";
  const CommandResult resumed = replay_in("state", {"--resume"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_TRUE(read_file(here_ / "people").starts_with(lines));
  const Charged after = charged();
  ASSERT_EQ(after.spent.size(), 2U);
  EXPECT_EQ(after.spent[0], before.spent[0]);
  EXPECT_GE(after.spent[1], before.spent[0]);
  EXPECT_NEAR(after.total, after.spent[0] + after.spent[1], 1e-9);
}

INSTANTIATE_TEST_SUITE_P(All, VersionsWithAnAccount, ::testing::ValuesIn(folders_with(has_account)), name_of);

}  // namespace
}  // namespace nustream::tests
