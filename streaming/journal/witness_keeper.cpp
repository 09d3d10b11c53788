// The thread that writes a witness. Commits come from the thread of the journal and must not wait for a disk that may
// be another one than the folder's. So they leave the newest commit in `next_`, and this thread writes it when a
// write is due.
#include "journal/witness_keeper.h"

#include <utility>

#include "error.h"
#include "journal/failpoint.h"

namespace nustream::journal {
namespace {

/// Whether the failure says that another run writes the file, by its exit code. It is final; one of the disk is not.
bool is_another_run(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Failure& told) {
    return told.code() == Exit::data;
  } catch (...) {
    return false;
  }
}

}  // namespace

WitnessKeeper::WitnessKeeper(std::filesystem::path file, std::string found, secrets::Keyring keys,
                             std::chrono::milliseconds interval)
    : file_(std::move(file)),
      last_(std::move(found)),
      keys_(std::move(keys)),
      interval_(interval),
      disk_(posix_disk()),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

WitnessKeeper::~WitnessKeeper() {
  thread_.request_stop();
  thread_.join();
}

void WitnessKeeper::committed(Witness latest) {
  {
    const std::lock_guard hold(mutex_);
    // Nothing is queued for a thread that has ended.
    if (given_up_) return;
    next_ = std::move(latest);
  }
  wake_.notify_all();
}

void WitnessKeeper::flush() {
  std::unique_lock hold(mutex_);
  // A flush does not wait for the interval to pass. It ends also with a failed attempt, which check() then tells of:
  // a disk that is full must not hold up the end of a run for ever.
  in_haste_ = true;
  wake_.notify_all();
  wake_.wait(hold, [this, before = failures_] { return given_up_ || (!next_ && !busy_) || failures_ != before; });
  in_haste_ = false;
}

std::exception_ptr WitnessKeeper::take_failure() {
  const std::lock_guard hold(mutex_);
  return std::exchange(failure_, nullptr);
}

void WitnessKeeper::run(const std::stop_token& stop) {
  // At once for the first commit: a run may end within its first second.
  auto due = std::chrono::steady_clock::now();
  std::unique_lock hold(mutex_);
  while (true) {
    wake_.wait(hold, stop, [this] { return next_.has_value(); });
    if (!next_) return;
    // Until `due` a newer commit may replace the one that waits.
    wake_.wait_until(hold, stop, due, [this] { return in_haste_; });
    Witness witness = std::move(*next_);
    next_.reset();
    busy_ = true;
    hold.unlock();
    const std::exception_ptr failure = try_to_write(witness);
    due = std::chrono::steady_clock::now() + interval_;
    hold.lock();
    busy_ = false;
    failure_ = failure;
    if (failure) {
      ++failures_;
      given_up_ = is_another_run(failure);
      if (!next_) next_ = std::move(witness);  // it is tried again, unless a later commit has come meanwhile
    }
    wake_.notify_all();
    if (given_up_ || (failure && stop.stop_requested())) return;
  }
}

std::exception_ptr WitnessKeeper::try_to_write(const Witness& witness) noexcept {
  try {
    write(witness);
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

// The file is read before each write. Only this run should be writing it, so that any other content shows that a copy
// of the folder is running too.
void WitnessKeeper::write(const Witness& witness) {
  const std::string present = read_file_if_any(*disk_, file_);
  if (!present.empty() && present != last_) {
    throw Failure(Exit::data,
                  "the witness " + file_.string() +
                      " was written by another run: a copy of this state folder runs too, which spends the "
                      "same records' privacy twice; end one of them");
  }
  std::string bytes = encode_witness(witness, keys_);
  const std::filesystem::path next = file_.string() + ".new";
  NUSTREAM_FAILPOINT("before-write-witness");
  const auto file = disk_->create(next, Audience::operators);
  std::uint64_t offset = 0;
  const auto write_part = [&](std::string_view part) {
    file->write(offset, part);
    offset += part.size();
  };
  NUSTREAM_TORN_WRITE("during-write-witness", std::string_view(bytes), write_part);
  file->sync();
  NUSTREAM_FAILPOINT("after-sync-witness");
  disk_->rename(next, file_);
  last_ = std::move(bytes);  // the file holds them now, also where the folder cannot be synced
  NUSTREAM_FAILPOINT("after-rename-witness");
  disk_->sync_folder(file_.parent_path());
}

}  // namespace nustream::journal
