// The file journal on a real file system: what a run leaves, and what a resume accepts, mends or refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "error.h"
#include "journal/file_journal.h"
#include "support/scratch_folder.h"
#include "support/toy_lane.h"

namespace nustream {
namespace {

using testing::ScratchFolder;
using testing::ToyLane;
using testing::read_file;
using testing::write_file;

std::string value_of(std::uint64_t step) { return "v" + std::to_string(step * step); }

/// One life of a run: opens the folder, takes `batches` batches of three steps, flushes where asked.
struct ToyRun {
  ToyLane lane{secrets::Keyring::insecure(7), "toy"};
  std::unique_ptr<journal::Disk> disk = journal::posix_disk();
  journal::FileJournal files;

  explicit ToyRun(const ScratchFolder& folder, bool new_epoch = false)
      : files(*disk, {folder / "state-folder", false, new_epoch}) {}

  void open() {
    if (const auto sealed = files.load()) files.recover(lane.restore(*sealed));
  }
  void take(int batches) {
    for (int i = 0; i < batches; ++i) journal::commit_and_wait(files, lane.batch(3, files.bookmark(), value_of));
  }
};

TEST(FileJournal, ResumesWhereItStopped) {
  const ScratchFolder whole;
  const ScratchFolder halves;
  {
    ToyRun run(whole);
    run.open();
    run.take(6);
    journal::flush_and_wait(run.files);
  }
  for (const int batches : {2, 0, 3, 1}) {
    ToyRun run(halves);
    run.open();
    run.take(batches);
  }
  const auto releases = read_file(whole / "state-folder/releases.jsonl");
  EXPECT_EQ(std::count(releases.begin(), releases.end(), '\n'), 18);
  EXPECT_EQ(read_file(halves / "state-folder/releases.jsonl"), releases);
  EXPECT_EQ(read_file(halves / "state-folder/ledger"), read_file(whole / "state-folder/ledger"));
}

}  // namespace
}  // namespace nustream
