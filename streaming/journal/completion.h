// A completion for a thread that waits for a commit.
#pragma once

#include <functional>
#include <future>
#include <memory>

#include "journal/journal.h"

namespace nustream::journal {

/// Returns a completion that fulfils `promise` in any case. After a failed commit the promise gets the failure. After
/// a durable commit the completion calls `then` on the journal's thread; the promise gets the exception if `then`
/// throws one, and otherwise success. A promise that is never fulfilled would keep its thread waiting, or tell of a
/// broken promise instead of what went wrong.
///
/// The promise is shared, since the journal's thread may still be inside set_value() when the waiting thread has
/// returned from get() and destroys its own reference.
[[nodiscard]] Completion that_ends(std::shared_ptr<std::promise<void>> promise, std::function<void()> then = {});

}  // namespace nustream::journal
