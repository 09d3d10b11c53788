// The journal of a recorded stream: the sealed outbox in files, committed by a thread of its own.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "journal/journal.h"
#include "journal/outbox_folder.h"

namespace nustream::journal {

/// Journal over an OutboxFolder. load(), recover() and adopt() work on the caller's thread before the first commit;
/// commit() and flush() on the journal's own, where completions are called too. A completion may call commit() or
/// flush(). The destructor waits for what is in flight. `disk` outlives it.
///
/// After a failure the journal is dead: every later completion is called with the same failure, nothing is written.
class FileJournal final : public Journal {
 public:
  FileJournal(Disk& disk, FolderOptions options);
  ~FileJournal() override;
  FileJournal(const FileJournal&) = delete;
  FileJournal& operator=(const FileJournal&) = delete;

  std::optional<std::string> load() override;
  void recover(const Recovery& recovery) override;
  /// As OutboxFolder::adopt().
  Adopted adopt();
  [[nodiscard]] std::string bookmark() const override;
  void commit(Batch batch, Completion done) override;
  void flush(Completion done) override;

  /// The last public release as of recover() or adopt().
  [[nodiscard]] std::optional<LastRelease> last_release() const;
  /// As OutboxFolder::rejects_given_up(), between commits.
  [[nodiscard]] bool rejects_given_up() const;

 private:
  /// What the thread is handed: the work, and whom to tell.
  struct Task {
    std::function<void()> work;
    Completion done;
  };
  void hand_over(Task task);
  void run(const std::stop_token& stop);

  OutboxFolder folder_;
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  std::optional<Task> task_;    // handed over, not yet begun
  bool busy_ = false;           // handed over or in work
  std::exception_ptr failure_;  // the one that ended it
  std::jthread thread_;         // last: starts when everything else is there, ends first
};

/// commit() that waits; throws what the completion was given.
void commit_and_wait(Journal& journal, Batch batch);
/// flush() that waits.
void flush_and_wait(Journal& journal);

}  // namespace nustream::journal
