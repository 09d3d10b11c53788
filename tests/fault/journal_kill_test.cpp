// kill −9 at every named place of the journal and at random moments, with a real process on a real file system.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <string>
#include <thread>

#include "campaign.h"
#include "child_process.h"
#include "journal/disk.h"
#include "journal/failpoint.h"
#include "journal/last_release.h"
#include "journal/ledger_chain.h"
#include "secrets/key_file.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

constexpr const char* child = NUSTREAM_JOURNAL_CHILD;
constexpr std::uint64_t steps = 12;

/// A folder in which one run lives again and again, and what a reader of its releases has seen so far.
class Lives {
 public:
  explicit Lives(std::string key) : key_(std::move(key)) {}

  /// One life, until the failpoint (name:count); an empty one means that it ends by itself.
  Ended live(const std::string& failpoint = {}) {
    ChildProcess process(child, arguments(), failpoint.empty() ? "" : "NUSTREAM_FAILPOINT=" + failpoint);
    return look_after(process.wait());
  }
  /// One life, for some time.
  Ended live_for(std::chrono::microseconds time) {
    ChildProcess process(child, arguments(), "");
    std::this_thread::sleep_for(time);
    process.kill();
    return look_after(process.wait());
  }

  [[nodiscard]] std::string file(const char* name) const { return read_file(folder_.path() / "run" / name); }
  [[nodiscard]] journal::Ledger ledger(const secrets::Keyring& keys) const {
    return journal::read_ledger(*journal::posix_disk(), folder_.path() / "run", keys);
  }
  [[nodiscard]] std::uint64_t kills() const noexcept { return kills_; }

 private:
  [[nodiscard]] std::vector<std::string> arguments() const {
    return {(folder_.path() / "run").string(), std::to_string(steps), key_};
  }
  Ended look_after(Ended ended) {
    kills_ += ended.killed ? 1U : 0U;
    EXPECT_EQ(ended.code, 0);
    const std::string releases = file("releases.jsonl");
    // A reader keeps what it saw: every later content begins with it, byte for byte.
    EXPECT_EQ(releases.substr(0, seen_.size()), seen_);
    seen_ = releases;
    return ended;
  }

  TemporaryFolder folder_;
  std::string key_;
  std::string seen_;
  std::uint64_t kills_ = 0;
};

void expect_every_step_once(const std::string& releases) {
  std::uint64_t step = 0;
  for (std::size_t begin = 0; begin < releases.size(); begin = releases.find('\n', begin) + 1) {
    const std::string line = releases.substr(begin, releases.find('\n', begin) - begin);
    ASSERT_EQ(journal::parse_last_release(line).steps, StepCount{++step});
  }
  EXPECT_EQ(step, steps);
}

class JournalKill : public ::testing::Test {
 protected:
  void SetUp() override {
    Lives undisturbed("seed");
    ASSERT_EQ(undisturbed.live().code, 0);
    releases_ = undisturbed.file("releases.jsonl");
    ledger_ = undisturbed.ledger(seed_keys_);
    expect_every_step_once(releases_);
    key_file_ = (key_folder_.path() / "key").string();
    secrets::create_key_file(key_file_);
  }

  /// Lets both kinds of run come to their ends, and compares them.
  void expect_same_end(Lives& seeded, Lives& keyed) {
    EXPECT_EQ(seeded.live().code, 0);
    EXPECT_EQ(seeded.file("releases.jsonl"), releases_);
    expect_same_spend(seeded.ledger(seed_keys_));
    EXPECT_EQ(keyed.live().code, 0);
    expect_every_step_once(keyed.file("releases.jsonl"));
    expect_same_spend(keyed.ledger(secrets::load_key_file(key_file_)));
  }
  void expect_same_spend(const journal::Ledger& ledger) const {
    ASSERT_EQ(ledger.epochs.size(), 1U);
    EXPECT_EQ(ledger.epochs[0].steps, ledger_.epochs[0].steps);
    EXPECT_EQ(ledger.epochs[0].to, ledger_.epochs[0].to);
    EXPECT_EQ(ledger.epochs[0].rho, ledger_.epochs[0].rho);
  }

  secrets::Keyring seed_keys_ = secrets::Keyring::insecure(11);
  std::string releases_;
  journal::Ledger ledger_;
  TemporaryFolder key_folder_;
  std::string key_file_;
};

// Each place is killed at its first, second and fourth passage, twice over: in a fresh run, and in one that resumes
// after a kill between commit and release. That is 20 places · 3 · 2 runs · up to 3 kills.
TEST_F(JournalKill, AtEveryNamedPlace) {
  std::uint64_t kills = 0;
  for (const std::string_view place : journal::failpoints) {
    std::uint64_t kills_here = 0;
    for (const char* count : {":1", ":2", ":4"}) {
      SCOPED_TRACE(std::string(place) + count);
      Lives seeded("seed");
      Lives keyed(key_file_);
      for (Lives* run : {&seeded, &keyed}) {
        kills_here += run->live(std::string(place) + count).killed ? 1U : 0U;
        static_cast<void>(run->live("after-sync-folder:2"));
        kills_here += run->live(std::string(place) + count).killed ? 1U : 0U;
        kills += run->kills();
      }
      expect_same_end(seeded, keyed);
      if (HasFailure()) return;
    }
    EXPECT_GE(kills_here, 2U) << place;
  }
  RecordProperty("kills", static_cast<int>(kills));
  EXPECT_GE(kills, 200U);
}

TEST_F(JournalKill, AtRandomMoments) {
  std::mt19937_64 random(20231);
  std::uint64_t kills = 0;
  // There are 200 kills in the campaign, and fewer in CI, where a slow disk's syncs would make it minutes.
  const std::uint64_t wanted = campaign() ? 200 : 30;
  while (kills < wanted) {
    Lives seeded("seed");
    Lives keyed(key_file_);
    for (int life = 0; life < 4; ++life) {
      for (Lives* run : {&seeded, &keyed}) {
        kills += run->live_for(std::chrono::microseconds(random() % 150'000)).killed ? 1U : 0U;
      }
    }
    expect_same_end(seeded, keyed);
    if (HasFailure()) return;
  }
  RecordProperty("kills", static_cast<int>(kills));
}

}  // namespace
}  // namespace nustream::tests
