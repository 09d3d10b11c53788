// What tests of movement have seen of a path or of several runs, and the verdict that follows from it.
#pragma once

#include "nustream/inference/path_status.h"

namespace nustream::inference {

struct Movement {
  bool moves = false;
  bool goes_on = false;    ///< the movement does not slow down
  bool remembers = false;  ///< the memory is as long as what is looked at
  bool apart = false;      ///< the spread grew a hundredfold

  [[nodiscard]] Verdict verdict() const noexcept {
    if (apart) return Verdict::diverged;
    if (goes_on) return Verdict::drifting;
    return moves || remembers ? Verdict::converging : Verdict::settled;
  }
};

}  // namespace nustream::inference
