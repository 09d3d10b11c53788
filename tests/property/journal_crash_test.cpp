// Thousands of lives of a run over a disk that loses power, kills the process, tears writes and fails syncs; each
// history follows from its seed. Every computed batch has values of its own, so a step that was readable before its
// state was durable, and is computed again after a crash, shows as two different values.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "error.h"
#include "journal/outbox_folder.h"
#include "simulated_disk.h"
#include "toy_lane.h"

namespace nustream::tests {
namespace {

constexpr const char* folder = "/run";
const journal::Disk::Path releases_path = "/run/releases.jsonl";
const journal::Disk::Path ledger_path = "/run/ledger";
const journal::Disk::Path rejects_path = "/run/rejects.jsonl";
const journal::Disk::Path state_path = "/run/state";

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// Somebody who reads a file at every moment and never forgets: what was seen at a place must stay what it is, though
/// a power failure may take it away for a while.
class Reader {
 public:
  void look(const std::string& content) {
    seen_.resize(std::max(seen_.size(), content.size()), '\0');
    for (std::size_t i = 0; i < content.size(); ++i) {
      if (content[i] == '\0') continue;
      if (seen_[i] != '\0' && seen_[i] != content[i]) two_values_ = true;
      seen_[i] = content[i];
    }
  }
  [[nodiscard]] bool saw_two_values() const noexcept { return two_values_; }

 private:
  std::string seen_;
  bool two_values_ = false;
};

class History {
 public:
  explicit History(std::uint64_t seed) : random_(seed), disk_(seed ^ 0x9e3779b97f4a7c15U) {
    disk_.on_change = [this](const journal::Disk::Path& path) { look(path); };
  }

  void play() {
    for (int life = 0; life < 6; ++life) {
      live(random_faults());
      if (::testing::Test::HasFailure()) return;
      if (random_() % 2 == 0) {
        disk_.lose_power();
      } else {
        disk_.kill_process();
      }
      look(releases_path);
      look(ledger_path);
    }
    live({});
    disk_.lose_power();
    check_end();
  }

 private:
  Faults random_faults() {
    const std::uint64_t at = 1 + random_() % 70;
    switch (random_() % 4) {
      case 0:
        return {};
      case 1:
        return {.fail_at = at};
      default:
        return {.crash_at = at};
    }
  }

  /// One process: it resumes, commits some batches and perhaps flushes; it ends by itself or by the fault.
  void live(Faults faults) {
    disk_.start_process(faults);
    call_failed_ = call_failed_ || faults.fail_at != 0;
    const bool last = faults.crash_at == 0 && faults.fail_at == 0;
    try {
      journal::OutboxFolder files(disk_, {.folder = folder, .is_private = false, .rejects = true});
      ToyLane lane(keys_, "toy");
      if (const auto sealed = files.load()) {
        const auto recovery = lane.restore(*sealed);
        ASSERT_GE(lane.steps(), committed_);
        files.recover(recovery);
      }
      ASSERT_GE(lane.steps(), committed_);
      committed_ = lane.steps();
      for (auto batches = random_() % 9; batches > 0; --batches) {
        files.commit(
            lane.batch(1 + random_() % 3, files.bookmark(), [this](auto) { return std::to_string(random_()); }));
        committed_ = lane.steps();
        ++batches_;
        // A step is released with its own commit, not with the next: whatever is committed is readable while the
        // process lives.
        ASSERT_EQ(lines_of(disk_.seen(releases_path)), committed_);
      }
      if (last || random_() % 2 == 0) {
        files.flush();
        ASSERT_EQ(lines_of(disk_.durable(releases_path)), committed_);
      }
    } catch (const SimulatedCrash&) {
      ASSERT_NE(faults.crash_at, 0U);
    } catch (const Failure& failure) {
      ASSERT_EQ(failure.code(), Exit::io) << failure.what();
      ASSERT_NE(faults.fail_at, 0U);
    }
  }

  void look(const journal::Disk::Path& path) {
    if (path != releases_path && path != ledger_path) return;
    const std::string content = disk_.seen(path);
    (path == releases_path ? releases_reader_ : ledger_reader_).look(content);
    ASSERT_FALSE(releases_reader_.saw_two_values()) << "a step had two values";
    ASSERT_FALSE(ledger_reader_.saw_two_values());
    if (path != releases_path || content.empty()) return;
    const auto state = journal::open_state(keys_, disk_.durable(state_path));
    ASSERT_LE(lines_of(content), state.identity.steps.value()) << "readable before its state was durable";
  }

  void check_end() {
    const std::string releases = disk_.seen(releases_path);
    ASSERT_EQ(lines_of(releases), committed_);
    std::size_t begin = 0;
    for (std::uint64_t step = 1; step <= committed_; ++step) {
      const std::size_t end = releases.find('\n', begin);
      ASSERT_EQ(journal::parse_last_release(releases.substr(begin, end - begin)).steps, StepCount{step});
      begin = end + 1;
    }
    const auto ledger = journal::read_ledger(disk_, folder, keys_);
    if (committed_ > 0) {
      const auto state = journal::open_state(keys_, disk_.seen(state_path));
      ASSERT_EQ(ledger.head, state.record.ledger_head);
      ASSERT_EQ(ledger.epochs.back().steps, StepCount{committed_});
      // A call that failed may have been one for the rejects. The journal then gives the rejects up, for they never
      // stop a batch, and they may be incomplete.
      if (!call_failed_) {
        ASSERT_GE(lines_of(disk_.seen(rejects_path)), batches_);
      }
    }
  }

  std::mt19937_64 random_;
  SimulatedDisk disk_;
  secrets::Keyring keys_ = secrets::Keyring::insecure(3);
  Reader releases_reader_;
  Reader ledger_reader_;
  std::uint64_t committed_ = 0;
  bool call_failed_ = false;
  std::uint64_t batches_ = 0;
};

#if defined(__SANITIZE_THREAD__)
constexpr std::uint64_t histories = 300;  // each history takes ten times as long and runs over the same threads
#else
constexpr std::uint64_t histories = 3000;
#endif

TEST(JournalCrash, NoStepEverHasTwoValuesAndNothingCommittedIsLost) {
  for (std::uint64_t seed = 1; seed <= histories; ++seed) {
    SCOPED_TRACE(seed);
    History(seed).play();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace nustream::tests
