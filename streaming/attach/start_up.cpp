// Waiting for work on another thread while the loop runs, so that signals and probes are answered. Work that does not
// end in time is left behind with all that it owns.
#include "attach/start_up.h"

#include <boost/asio/post.hpp>

#include <chrono>
#include <csignal>
#include <exception>
#include <thread>
#include <utility>

namespace nustream::attach {
namespace {

// How long work that was told to end is waited for.
constexpr std::chrono::milliseconds moment{500};

/// Shared with the thread, which may outlive the call.
struct Call {
  std::atomic<bool> cancelled{false};
  std::atomic<bool> ended{false};
  std::exception_ptr failure;  // once it has ended
};

/// While a Blocked exists, SIGINT and SIGTERM are blocked for this thread, and for the threads that it starts
/// meanwhile.
class Blocked {
 public:
  Blocked() {
    sigset_t both;
    ::sigemptyset(&both);
    ::sigaddset(&both, SIGINT);
    ::sigaddset(&both, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &both, &before_);
  }
  ~Blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  Blocked(const Blocked&) = delete;
  Blocked& operator=(const Blocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

StartUp::StartUp(std::shared_ptr<boost::asio::io_context> loop)
    : loop_(std::move(loop)), signals_(*loop_, SIGINT, SIGTERM) {
  signals_.async_wait([this](const boost::system::error_code& cancelled, int signal) {
    if (!cancelled) told_ = signal == SIGINT ? Exit::interrupted : Exit::done;
  });
}

StartUp::~StartUp() {
  // Clearing the set gives both signals their default action, which ends the process. They are blocked until they are
  // ignored, so that a signal in between does nothing.
  const Blocked blocked;
  boost::system::error_code never;
  signals_.clear(never);
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_IGN);
}

std::optional<Exit> StartUp::run(Work work) {
  const auto call = std::make_shared<Call>();
  const auto carry_out = [call, loop = loop_, work = std::move(work)] {
    try {
      work(call->cancelled);
    } catch (...) {
      call->failure = std::current_exception();
    }
    call->ended = true;
    boost::asio::post(*loop, [] {});  // wakes the loop that waits below
  };
  std::thread thread;
  {
    const Blocked blocked;  // the new thread inherits the mask, and so takes no signal even if it is left behind
    thread = std::thread(carry_out);
  }
  // The loop always has the listeners to wait for, and is woken by the work's end.
  while (!told_ && !call->ended) loop_->run_one();
  call->cancelled = static_cast<bool>(told_);
  // Work that looks at its flag ends in a moment, and can be joined.
  for (const auto until = std::chrono::steady_clock::now() + moment;
       !call->ended && std::chrono::steady_clock::now() < until;) {
    loop_->run_one_until(until);
  }
  if (!call->ended) {
    // Its thread may wait for a broker for long. Whatever it still finds is dropped.
    thread.detach();
    return told_;
  }
  thread.join();
  if (!told_ && call->failure) std::rethrow_exception(call->failure);
  return told_;
}

std::optional<Exit> StartUp::told_to_end() {
  // The service may have stopped the loop, and only a restarted one handles what waits.
  loop_->restart();
  loop_->poll();
  return told_;
}

}  // namespace nustream::attach
