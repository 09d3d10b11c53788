// What a thread that waits for a commit is told.
#pragma once

#include <functional>
#include <future>
#include <memory>

#include "journal/journal.h"

namespace nustream::journal {

/// A completion that ends `promise`, whatever happens: with the commit's failure; or, once it is durable, with what
/// `then` throws, which is called first, on the journal's thread; or with nothing. A promise that is never ended
/// would hold up whoever waits for it, or tell of a broken promise in place of what went wrong.
///
/// Shared: the journal's thread may still be inside set_value() when the waiting thread is past get().
[[nodiscard]] Completion that_ends(std::shared_ptr<std::promise<void>> promise, std::function<void()> then = {});

}  // namespace nustream::journal
