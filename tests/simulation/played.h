// Plays a history to its end, whatever that end is.
#pragma once

#include <utility>

#include "play.h"

namespace nustream::tests {

/// The result of a history that ended with an exception. To be called in the handler of the exception.
[[nodiscard]] HistoryResult unexpected();

/// Plays a history to its end. An exception is a violation, and the log holds what was readable before it.
template <typename History>
[[nodiscard]] PublicHistory played(History&& history) {
  PublicHistory shown;
  try {
    shown.result = history.play();
  } catch (...) {
    shown.result = unexpected();
  }
  shown.log = std::move(history.log());
  shown.for_operators = history.for_operators();
  return shown;
}

}  // namespace nustream::tests
