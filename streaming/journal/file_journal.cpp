// The thread on which batches of a recorded stream become durable. While it waits for the disk, the caller's thread
// goes on with the next batch. Everything that touches the disk is in OutboxFolder; this file only hands work over.
#include "journal/file_journal.h"

#include <future>
#include <memory>
#include <utility>

#include "journal/completion.h"
#include "nustream/base/error.h"

namespace nustream::journal {

FileJournal::FileJournal(Disk& disk, FolderOptions options)
    : folder_(disk, std::move(options)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

FileJournal::~FileJournal() {
  thread_.request_stop();
  thread_.join();
}

// load(), recover() and adopt() take no lock: they come before the first commit, while the thread has nothing to do.
std::optional<std::string> FileJournal::load() {
  return folder_.load();
}

void FileJournal::recover(const Recovery& recovery) {
  folder_.recover(recovery);
}

Adopted FileJournal::adopt() {
  return folder_.adopt();
}

std::string FileJournal::bookmark() const {
  const std::lock_guard hold(mutex_);
  // The bookmark has to stand where the batch before ended, or a resume would find lines that the state does not
  // know.
  NUSTREAM_REQUIRE(!busy_, "a bookmark is taken after the commit before it completed");
  return folder_.bookmark();
}

std::optional<LastRelease> FileJournal::last_release() const {
  const std::lock_guard hold(mutex_);
  return folder_.last_release();
}

bool FileJournal::rejects_given_up() const {
  const std::lock_guard hold(mutex_);
  NUSTREAM_REQUIRE(!busy_, "asked after the commit before it completed");
  return folder_.rejects_given_up();
}

void FileJournal::commit(Batch batch, Completion done) {
  auto shared = std::make_shared<const Batch>(std::move(batch));  // std::function wants to be copyable
  hand_over({[this, shared] { folder_.commit(*shared); }, std::move(done)});
}

void FileJournal::flush(Completion done) {
  hand_over({[this] { folder_.flush(); }, std::move(done)});
}

void FileJournal::hand_over(Task task) {
  {
    const std::lock_guard hold(mutex_);
    NUSTREAM_REQUIRE(!busy_, "one batch in flight");
    task_ = std::move(task);
    busy_ = true;
  }
  // After the lock is given up, so that the thread does not wake only to wait for it.
  wake_.notify_one();
}

// After a failure nothing may be written any more: later tasks are not begun, and get the same failure.
void FileJournal::run(const std::stop_token& stop) {
  while (true) {
    std::unique_lock hold(mutex_);
    wake_.wait(hold, stop, [this] { return task_.has_value(); });
    // A stop is heeded only where no task waits, so that the destructor does not lose a batch that was handed over.
    if (!task_) return;
    // Taken out, so that the completion may hand over the next one.
    const Task task = std::move(*task_);
    task_.reset();
    // The work runs without the lock: a commit takes as long as its syncs, and hand_over() must not wait for that.
    std::exception_ptr failure = failure_;
    hold.unlock();
    if (!failure) {
      try {
        task.work();
      } catch (...) {
        failure = std::current_exception();
      }
    }
    hold.lock();
    failure_ = failure;
    busy_ = false;
    hold.unlock();
    // The journal is free again before the completion is called, since the completion may hand over the next batch.
    task.done(failure);
  }
}

namespace {

/// Starts a commit or a flush and waits for its completion.
template <class Start>
void wait_for(Start start) {
  const auto promise = std::make_shared<std::promise<void>>();
  auto finished = promise->get_future();
  start(that_ends(promise));
  finished.get();
}

}  // namespace

void commit_and_wait(Journal& journal, Batch batch) {
  wait_for([&](Completion done) { journal.commit(std::move(batch), std::move(done)); });
}

void flush_and_wait(Journal& journal) {
  wait_for([&](Completion done) { journal.flush(std::move(done)); });
}

}  // namespace nustream::journal
