// The file journal on a real file system: what a run leaves, and what a resume accepts, mends or refuses.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <memory>
#include <string>

#include "error.h"
#include "expect_failure.h"
#include "journal/file_journal.h"
#include "temporary_folder.h"
#include "toy_lane.h"

namespace nustream::tests {
namespace {

namespace fs = std::filesystem;

std::string value_of(std::uint64_t step) {
  return "v" + std::to_string(step * step);
}

/// One life of a run over the folder "run", inside the test's own folder.
struct ToyRun {
  ToyLane lane;
  std::unique_ptr<journal::Disk> disk = journal::posix_disk();
  journal::FileJournal files;

  explicit ToyRun(const TemporaryFolder& folder, std::uint64_t seed = 7)
      : lane(secrets::Keyring::insecure(seed), "toy"),
        files(*disk, {.folder = folder.path() / "run", .is_private = false, .rejects = true}) {}

  void open() {
    if (const auto sealed = files.load()) files.recover(lane.restore(*sealed));
  }
  void take(int batches) {
    for (int i = 0; i < batches; ++i) journal::commit_and_wait(files, lane.batch(3, files.bookmark(), value_of));
  }
  void finish() { journal::flush_and_wait(files); }
};

void run_batches(const TemporaryFolder& folder, int batches) {
  ToyRun run(folder);
  run.open();
  run.take(batches);
  run.finish();
}

fs::path in_run(const TemporaryFolder& folder, const char* name) {
  return folder.path() / "run" / name;
}

void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

void append(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::app) << bytes;
}

/// Every file of the run's folder, with its content.
std::map<std::string, std::string> snapshot(const TemporaryFolder& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder.path() / "run")) {
    files[entry.path().filename()] = read_file(entry.path());
  }
  return files;
}

/// Expects that a resume refuses the folder and leaves it as it is.
void expect_refused(const TemporaryFolder& folder) {
  const auto before = snapshot(folder);
  ToyRun run(folder);
  expect_failure(Exit::data, [&] { run.open(); });
  EXPECT_EQ(snapshot(folder), before);
}

TEST(FileJournal, ResumesWhereItStopped) {
  const TemporaryFolder whole;
  const TemporaryFolder parts;
  run_batches(whole, 6);
  for (const int batches : {2, 0, 3, 1}) {
    ToyRun run(parts);
    run.open();
    run.take(batches);
  }
  const std::string releases = read_file(in_run(whole, "releases.jsonl"));
  EXPECT_EQ(std::count(releases.begin(), releases.end(), '\n'), 18);
  EXPECT_EQ(read_file(in_run(parts, "releases.jsonl")), releases);
  EXPECT_EQ(read_file(in_run(parts, "ledger")), read_file(in_run(whole, "ledger")));
}

TEST(FileJournal, GivesFilesTheModesOfTheirPageWhateverTheUmask) {
  for (const mode_t mask : {0U, 0077U}) {
    const TemporaryFolder folder;
    const mode_t before = ::umask(mask);
    run_batches(folder, 1);
    ::umask(before);
    const auto mode = [](const fs::path& path) {
      return static_cast<unsigned>(fs::status(path).permissions() & fs::perms::mask);
    };
    EXPECT_EQ(mode(folder.path() / "run"), 0700U);
    EXPECT_EQ(mode(in_run(folder, "releases.jsonl")), 0644U);
    for (const char* name : {"state", "ledger", "rejects.jsonl", "lock"}) {
      EXPECT_EQ(mode(in_run(folder, name)), 0600U) << name;
    }
  }
}

// What a run's first commit creates and syncs must not depend on the records of the batch.
TEST(FileJournal, BeginsItsRejectsWhateverTheFirstBatchHolds) {
  for (const bool asked_for : {true, false}) {
    const TemporaryFolder folder;
    const std::unique_ptr<journal::Disk> disk = journal::posix_disk();
    journal::FileJournal files(*disk, {.folder = folder.path() / "run", .is_private = false, .rejects = asked_for});
    ToyLane lane(secrets::Keyring::insecure(7), "toy");
    ASSERT_FALSE(files.load());
    journal::Batch batch = lane.batch(3, files.bookmark(), value_of);
    batch.rejects.clear();
    EXPECT_FALSE(fs::exists(in_run(folder, "rejects.jsonl")));
    journal::commit_and_wait(files, std::move(batch));
    EXPECT_EQ(fs::exists(in_run(folder, "rejects.jsonl")), asked_for);
  }
}

TEST(FileJournal, LocksTheFolderAgainstAnotherRun) {
  const TemporaryFolder folder;
  {
    ToyRun first(folder);
    first.open();
    ToyRun second(folder);
    expect_failure(
        Exit::locked, [&] { second.open(); }, "run");
  }
  ToyRun third(folder);
  EXPECT_NO_THROW(third.open());
}

// Cuts the two public files where a crash after the last commit can cut them, and leaves NUL bytes behind.
TEST(FileJournal, MendsATornTail) {
  const TemporaryFolder folder;
  run_batches(folder, 2);
  const std::size_t kept_releases = read_file(in_run(folder, "releases.jsonl")).size();
  const std::size_t kept_ledger = read_file(in_run(folder, "ledger")).size();
  run_batches(folder, 1);
  const std::string releases = read_file(in_run(folder, "releases.jsonl"));
  const std::string ledger = read_file(in_run(folder, "ledger"));
  for (std::size_t cut = 0; kept_releases + cut <= releases.size(); cut += 13) {
    const std::string nul((cut % 3) * 2500, '\0');
    write_file(in_run(folder, "releases.jsonl"), releases.substr(0, kept_releases + cut) + nul);
    write_file(in_run(folder, "ledger"), ledger.substr(0, kept_ledger + cut));
    ToyRun run(folder);
    run.open();
    run.finish();
    ASSERT_EQ(read_file(in_run(folder, "releases.jsonl")), releases) << cut;
    ASSERT_EQ(read_file(in_run(folder, "ledger")), ledger) << cut;
  }
}

TEST(FileJournal, MendsBlocksWrittenOutOfOrder) {
  const TemporaryFolder folder;
  run_batches(folder, 1);
  const std::string releases = read_file(in_run(folder, "releases.jsonl"));
  std::string holes = releases;
  for (std::size_t i = 20; i < 150; ++i) holes[i] = '\0';  // the first newline is among these NUL bytes
  write_file(in_run(folder, "releases.jsonl"), holes);
  ToyRun run(folder);
  run.open();
  EXPECT_EQ(read_file(in_run(folder, "releases.jsonl")), releases);
}

TEST(FileJournal, RemovesALineThatNeverGotItsNewline) {
  const TemporaryFolder folder;
  run_batches(folder, 2);
  const std::string releases = read_file(in_run(folder, "releases.jsonl"));
  append(in_run(folder, "releases.jsonl"), R"({"format":1,"stre)");
  ToyRun run(folder);
  run.open();
  EXPECT_EQ(read_file(in_run(folder, "releases.jsonl")), releases);
}

TEST(FileJournal, RefusesReleasesThatTheStateDoesNotKnow) {
  const TemporaryFolder folder;
  run_batches(folder, 2);
  const std::string releases = read_file(in_run(folder, "releases.jsonl"));
  const std::size_t last_line = releases.rfind('\n', releases.size() - 2) + 1;
  const auto with = [&](const std::string& text) {
    write_file(in_run(folder, "releases.jsonl"), text);
    expect_refused(folder);
  };
  with(releases + "{}\n");                           // one line too many
  with(releases + releases.substr(last_line));       // the last line is there twice
  with(releases + std::string(100, '\0') + "{}\n");  // a line behind NUL bytes
  with("\n" + releases);                             // an empty line in front
  with(releases.substr(0, last_line) + "{}\n");      // another value for a step of the outbox
  with(releases.substr(0, releases.size() / 4));     // published lines from before the outbox are lost
  with("");                                          //
  std::string changed = releases;
  changed[40] ^= 1;
  with(changed);  // one bit of the published lines has changed
  fs::remove(in_run(folder, "releases.jsonl"));
  expect_refused(folder);
}

TEST(FileJournal, RefusesALedgerThatTheStateDoesNotKnow) {
  const TemporaryFolder folder;
  run_batches(folder, 2);
  const std::string ledger = read_file(in_run(folder, "ledger"));
  write_file(in_run(folder, "ledger"), ledger + ledger);
  expect_refused(folder);
  write_file(in_run(folder, "ledger"), ledger.substr(0, 10));
  expect_refused(folder);
  fs::remove(in_run(folder, "ledger"));
  expect_refused(folder);
}

TEST(FileJournal, RefusesAStateThatWasRolledBack) {
  const TemporaryFolder folder;
  run_batches(folder, 1);
  const std::string old_state = read_file(in_run(folder, "state"));
  run_batches(folder, 1);
  write_file(in_run(folder, "state"), old_state);
  expect_refused(folder);
}

// The ledger tells of a rolled-back state by itself, and so do the releases, each where the other was rolled back as
// well. Nothing tells where both were.
TEST(FileJournal, RefusesARolledBackStateForTheLedgerAloneAndForTheReleasesAlone) {
  for (const char* const rolled_back : {"releases.jsonl", "ledger", "both"}) {
    SCOPED_TRACE(rolled_back);
    const TemporaryFolder folder;
    run_batches(folder, 1);
    const auto old = snapshot(folder);
    run_batches(folder, 1);
    for (const char* const name : {"state", "releases.jsonl", "ledger"}) {
      const bool is_kept =
          std::string(name) != "state" && std::string(rolled_back) != "both" && name != std::string(rolled_back);
      if (!is_kept) write_file(in_run(folder, name), old.at(name));
    }
    if (std::string(rolled_back) != "both") {
      expect_refused(folder);
    } else {
      ToyRun run(folder);
      EXPECT_NO_THROW(run.open());
    }
  }
}

TEST(FileJournal, RefusesAStateThatIsDamagedOrCut) {
  const TemporaryFolder folder;
  run_batches(folder, 1);
  const std::string state = read_file(in_run(folder, "state"));
  for (std::size_t length = 0; length < state.size(); length += 7) {
    write_file(in_run(folder, "state"), state.substr(0, length));
    expect_refused(folder);
  }
  write_file(in_run(folder, "state"), state + "x");
  expect_refused(folder);
}

TEST(FileJournal, TellsOfReleasesWithoutAStateAndTakesThemAsTheyAre) {
  const TemporaryFolder folder;
  run_batches(folder, 2);
  {
    ToyRun run(folder);
    EXPECT_TRUE(run.files.load().has_value());
    EXPECT_FALSE(run.files.has_remains());
  }
  fs::remove(in_run(folder, "state"));
  append(in_run(folder, "releases.jsonl"), "torn");
  {
    ToyRun run(folder);
    EXPECT_FALSE(run.files.load().has_value());
    EXPECT_TRUE(run.files.has_remains());
    const journal::Adopted adopted = run.files.adopt();
    EXPECT_TRUE(adopted.torn_release);
    ASSERT_TRUE(adopted.last_release.has_value());
    EXPECT_EQ(adopted.last_release->steps, StepCount{6});
    EXPECT_EQ(adopted.last_release->position, Position{6});
    run.take(1);
    run.finish();
  }
  ToyRun next(folder);
  EXPECT_NO_THROW(next.open());
}

// A rolled-back state that was refused may be set aside where a new epoch is asked for.
TEST(FileJournal, AdoptsTheFilesOfARolledBackState) {
  const TemporaryFolder folder;
  run_batches(folder, 1);
  const std::string old_state = read_file(in_run(folder, "state"));
  run_batches(folder, 1);
  write_file(in_run(folder, "state"), old_state);
  ToyRun run(folder);
  expect_failure(Exit::data, [&] { run.open(); });
  EXPECT_EQ(run.files.adopt().last_release->steps, StepCount{6});
}

TEST(FileJournal, AdoptsNothingThatWasDamagedInTheMiddle) {
  const TemporaryFolder folder;
  run_batches(folder, 2);
  fs::remove(in_run(folder, "state"));
  std::string releases = read_file(in_run(folder, "releases.jsonl"));
  releases[60] = '\0';
  write_file(in_run(folder, "releases.jsonl"), releases);
  ToyRun run(folder);
  static_cast<void>(run.files.load());
  expect_failure(Exit::data, [&] { run.files.adopt(); });
  EXPECT_EQ(read_file(in_run(folder, "releases.jsonl")), releases);
}

TEST(FileJournal, NeverMixesPrivateReleasesWithOthers) {
  const TemporaryFolder folder;
  run_batches(folder, 1);
  fs::remove(in_run(folder, "state"));
  const auto disk = journal::posix_disk();
  journal::FileJournal files(*disk, {.folder = folder.path() / "run", .is_private = true});
  static_cast<void>(files.load());
  expect_failure(
      Exit::data, [&] { files.adopt(); }, "insecure seed");
}

TEST(FileJournal, StopsWhereAnotherProgramWritesItsReleases) {
  const TemporaryFolder folder;
  ToyRun run(folder);
  run.open();
  run.take(1);
  append(in_run(folder, "releases.jsonl"), "{}\n");
  expect_failure(Exit::data, [&] { run.take(1); });
  expect_failure(Exit::data, [&] { run.finish(); });  // and it stays stopped
}

TEST(FileJournal, NamesAFolderThatCannotBeMade) {
  const TemporaryFolder folder;
  static_cast<void>(folder.write("run", "a file in its place"));
  ToyRun run(folder);
  expect_failure(
      Exit::io, [&] { run.open(); }, "run");
}

TEST(FileJournal, MayBeCalledFromACompletion) {
  const TemporaryFolder folder;
  ToyRun run(folder);
  run.open();
  std::promise<void> finished;
  journal::Batch batch = run.lane.batch(3, run.files.bookmark(), value_of);
  run.files.commit(std::move(batch), [&](std::exception_ptr) {
    run.files.commit(run.lane.batch(3, run.files.bookmark(), value_of),
                     [&](std::exception_ptr) { run.files.flush([&](std::exception_ptr) { finished.set_value(); }); });
  });
  finished.get_future().get();
  EXPECT_EQ(run.lane.steps(), 6U);
}

}  // namespace
}  // namespace nustream::tests
