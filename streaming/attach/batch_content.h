// What the steps of one batch have made, before it is sealed.
#pragma once

#include <string>
#include <vector>

#include "journal/journal.h"
#include "journal/state_record.h"
#include "nustream/base/units.h"

namespace nustream::attach {

/// What a batch adds to the lane's state.
struct BatchContent {
  journal::NoiseCheckpoints noise;
  std::string outbox;
  std::vector<journal::DeadLetter> dead_letters;
  StepCount released;   ///< steps of the last release, which may be in this batch's outbox
  bool closes = false;  ///< true where the lane is ending: a ledger line then says which reserved steps were taken
};

}  // namespace nustream::attach
