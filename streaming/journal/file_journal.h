// The journal of a recorded stream: an outbox folder whose commits run on a thread of their own.
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

/// A Journal over an OutboxFolder. load(), recover() and adopt() work on the caller's thread, and come before the
/// first commit. commit() and flush() return at once and work on the journal's own thread, where completions are
/// called too. A completion may call commit() or flush(). The destructor waits for what is in flight. `disk` outlives
/// it.
///
/// After a failure the journal writes nothing any more: every later completion is called with that same failure.
class FileJournal final : public Journal {
 public:
  FileJournal(Disk& disk, FolderOptions options);
  ~FileJournal() override;
  FileJournal(const FileJournal&) = delete;
  FileJournal& operator=(const FileJournal&) = delete;

  std::optional<std::string> load() override;
  void recover(const Recovery& recovery) override;
  /// As OutboxFolder::has_remains().
  [[nodiscard]] bool has_remains() const noexcept { return folder_.has_remains(); }
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
  /// A piece of work for the thread, and the completion to be called after it.
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
  std::exception_ptr failure_;  // the failure after which nothing is written any more
  std::jthread thread_;         // declared last: it starts when everything else is there, and ends first
};

/// Commits, and waits for the completion. Throws the failure that the completion was given.
void commit_and_wait(Journal& journal, Batch batch);
/// Flushes, and waits for the completion. Throws the failure that the completion was given.
void flush_and_wait(Journal& journal);

}  // namespace nustream::journal
