#include "journal/completion.h"

#include <utility>

namespace nustream::journal {

Completion that_ends(std::shared_ptr<std::promise<void>> promise, std::function<void()> then) {
  return [promise = std::move(promise), then = std::move(then)](std::exception_ptr failure) {
    if (!failure && then) {
      try {
        then();
      } catch (...) {
        failure = std::current_exception();
      }
    }
    if (failure) {
      promise->set_exception(std::move(failure));
    } else {
      promise->set_value();
    }
  };
}

}  // namespace nustream::journal
