#include "kafka/background_call.h"

#include <utility>

#include "nustream/base/error.h"

namespace nustream::kafka {

BackgroundCall::BackgroundCall() : thread_([this] { work(); }) {}

BackgroundCall::~BackgroundCall() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Progress BackgroundCall::run(std::string_view name, Call call, std::chrono::milliseconds slice) {
  NUSTREAM_REQUIRE(is_idle() || name_ == name, "a transactional call is finished before another one begins");
  std::unique_lock lock(mutex_);
  if (is_idle()) {
    name_ = name;
    call_ = std::move(call);
    ended_ = false;
    changed_.notify_all();
  }
  if (!changed_.wait_for(lock, slice, [this] { return ended_; })) return Progress::again();
  name_ = {};
  std::optional<Error> error = std::exchange(error_, std::nullopt);
  return error ? Progress::failed(*std::move(error)) : Progress::done();
}

void BackgroundCall::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return leaving_ || call_; });
    if (!call_) return;
    lock.unlock();
    std::optional<Error> error = call_();
    lock.lock();
    call_ = nullptr;
    error_ = std::move(error);
    ended_ = true;
    changed_.notify_all();
  }
}

}  // namespace nustream::kafka
