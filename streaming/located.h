// Adds to the failures of a part what only its caller knows: the place where the part worked, or advice.
#pragma once

#include <string>
#include <utility>

#include "error.h"

namespace nustream {

/// Returns what `action` returns. A failure that does not name `place` is thrown on as "PLACE: …".
template <class Action>
decltype(auto) located(const std::string& place, Action&& action) {
  try {
    return std::forward<Action>(action)();
  } catch (const Failure& failure) {
    const std::string line = failure.what();
    if (line.find(place) != std::string::npos) throw;
    throw Failure(failure.code(), place + ": " + line);
  }
}

/// Returns what `action` returns. A failure with this code is thrown on with `advice` behind it.
template <class Action>
decltype(auto) with_advice(Exit code, const std::string& advice, Action&& action) {
  try {
    return std::forward<Action>(action)();
  } catch (const Failure& failure) {
    if (failure.code() != code) throw;
    throw Failure(failure.code(), failure.what() + ("; " + advice));
  }
}

}  // namespace nustream
