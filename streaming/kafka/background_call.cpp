// The background thread takes a call out of `Shared`, makes it without the lock and leaves its result there. The
// caller only ever waits for a slice of time. What a call needs is owned by the call, since the thread may outlive
// everything else.
#include "kafka/background_call.h"

#include <librdkafka/rdkafka.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>

#include "nustream/base/error.h"

namespace nustream::kafka {

// What the two threads share. The background thread holds it too, so that it lives until that thread has ended.
struct BackgroundCall::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  Call call;  // empty once the background thread has taken it
  bool ended = false;
  std::optional<Error> error;  // what the call that ended returned
  bool leaving = false;
};

BackgroundCall::BackgroundCall()
    : shared_(std::make_shared<Shared>()), thread_([shared = shared_] { work(*shared); }) {}

BackgroundCall::~BackgroundCall() {
  // A call that is overdue may never come back. Its thread is then left to itself: it still holds `Shared` and what
  // the call owns.
  const bool comes_back = !given_up_ && (is_idle() || has_ended(overdue_));
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->leaving = true;
  }
  shared_->changed.notify_all();
  if (comes_back) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

void BackgroundCall::start(std::string_view name, Call call, Deadline deadline) {
  NUSTREAM_REQUIRE(is_idle() && !given_up_, "a call is finished before another one begins");
  name_ = name;
  overdue_ = deadline + grace;
  const std::lock_guard lock(shared_->mutex);
  shared_->call = std::move(call);
  shared_->ended = false;
  shared_->changed.notify_all();
}

Progress BackgroundCall::wait(std::string_view name, std::chrono::milliseconds slice) {
  NUSTREAM_REQUIRE(name_ == name, "a call is finished before another one begins");
  const bool ended = has_ended(in(slice));
  // A call that has ended counts, however late it is asked for.
  if (!ended && std::chrono::steady_clock::now() < overdue_) return Progress::again();
  name_ = {};
  if (!ended) {
    given_up_ = true;
    Error error = error_of(RD_KAFKA_RESP_ERR__TIMED_OUT, std::string(name) + " did not come back");
    // Nobody knows what a late answer would still do. So the client of the call is of no use any more.
    error.remedy = Remedy::new_client;
    return Progress::failed(std::move(error));
  }
  const std::lock_guard lock(shared_->mutex);
  std::optional<Error> error = std::exchange(shared_->error, std::nullopt);
  return error ? Progress::failed(*std::move(error)) : Progress::done();
}

bool BackgroundCall::has_ended(Deadline until) const {
  std::unique_lock lock(shared_->mutex);
  return shared_->changed.wait_until(lock, until, [this] { return shared_->ended; });
}

void BackgroundCall::work(Shared& shared) {
  std::unique_lock lock(shared.mutex);
  while (true) {
    shared.changed.wait(lock, [&] { return shared.leaving || shared.call; });
    // A call that was handed over is made even where the object is leaving: the destructor waits for it.
    if (!shared.call) return;
    Call call = std::exchange(shared.call, nullptr);
    lock.unlock();
    std::optional<Error> error = call();
    call = nullptr;  // destroyed outside of the lock: where nobody waits any more, it may own a whole client
    lock.lock();
    shared.error = std::move(error);
    shared.ended = true;
    shared.changed.notify_all();
  }
}

}  // namespace nustream::kafka
