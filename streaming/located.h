// Failures of a part that does not know where it works, told by one that does.
#pragma once

#include <string>
#include <utility>

#include "error.h"

namespace nustream {

/// What `action` returns; a failure of it that does not name `place` is thrown on as "PLACE: …".
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

}  // namespace nustream
