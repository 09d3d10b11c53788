// The bridge from a journal's completion, which is called on the journal's thread, to a thread that waits on a
// future.
#include "journal/completion.h"

#include <utility>

namespace nustream::journal {

Completion that_ends(std::shared_ptr<std::promise<void>> promise, std::function<void()> then) {
  return [promise = std::move(promise), then = std::move(then)](std::exception_ptr failure) {
    if (!failure && then) {
      // `then` is the caller's and may throw. The journal's thread must not end of it, so the waiting thread gets the
      // exception.
      try {
        then();
      } catch (...) {
        failure = std::current_exception();
      }
    }
    if (failure) {
      // The waiting thread's get() throws it again.
      promise->set_exception(std::move(failure));
    } else {
      promise->set_value();
    }
  };
}

}  // namespace nustream::journal
