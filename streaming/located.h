// Adds to the failures of a part what only its caller knows: the place where the part worked, or advice.
#pragma once

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "error.h"

namespace nustream {

/// Whether the line has `place` as a word of its own, or as the beginning of a path. The folder "re" is not named by
/// "there are releases".
[[nodiscard]] inline bool names_place(std::string_view line, std::string_view place) {
  const auto is_within_word = [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '-';
  };
  for (std::size_t at = line.find(place); at != std::string_view::npos; at = line.find(place, at + 1)) {
    const std::size_t end = at + place.size();
    const bool begins = at == 0 || !is_within_word(line[at - 1]);
    if (begins && (end >= line.size() || !is_within_word(line[end]))) return true;
  }
  return false;
}

/// Returns what `action` returns. A failure that does not name `place` is thrown on as "PLACE: …".
template <class Action>
decltype(auto) located(const std::string& place, Action&& action) {
  try {
    return std::forward<Action>(action)();
  } catch (const Failure& failure) {
    const std::string line = failure.what();
    if (names_place(line, place)) throw;
    throw Failure(failure.code(), place + ": " + line);
  }
}

/// Returns what `action` returns. An AdvisedFailure is thrown on with what `advice` returns in place of its own
/// advice.
template <class Advice, class Action>
decltype(auto) with_own_advice(const Advice& advice, Action&& action) {
  try {
    return std::forward<Action>(action)();
  } catch (const AdvisedFailure& failure) {
    throw Failure(failure.code(), failure.found() + "; " + advice());
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
