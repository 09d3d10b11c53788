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
  wake_.notify_one();
}

// After a failure nothing may be written any more: later tasks are not begun, and get the same failure.
void FileJournal::run(const std::stop_token& stop) {
  while (true) {
    std::unique_lock hold(mutex_);
    wake_.wait(hold, stop, [this] { return task_.has_value(); });
    if (!task_) return;
    const Task task = std::move(*task_);
    task_.reset();
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
    task.done(failure);
  }
}

namespace {

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
