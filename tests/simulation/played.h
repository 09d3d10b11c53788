// Playing a history to its end, whatever end that is.
#pragma once

#include <utility>

#include "play.h"

namespace nustream::tests {

/// In a handler: of a history that ended with an exception.
[[nodiscard]] HistoryResult unexpected();

/// Plays a history to its end. An exception is a violation, and what was readable before it stands in the log.
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
