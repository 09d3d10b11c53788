// What a session asks about the input of its lane: whether the input of a resumed run is still the one that was read.
#pragma once

#include <vector>

#include "decode/message.h"
#include "journal/state_record.h"
#include "nustream/base/units.h"

namespace nustream::folder {

class InputWitness {
 public:
  virtual ~InputWitness() = default;
  /// Throws Failure(data) where the input has another size than the input that the state was made from. Called before
  /// the settings are compared, because settings may follow from the size.
  virtual void require_same_size(const journal::StateRecord& /*record*/) const {}
  /// Looks for the records that the state to be resumed has marks of, before anything of that state is published.
  /// Throws Failure(data) where the input holds other records in their places, or ends before the state's position.
  virtual void check(const journal::StateRecord& record) = 0;
  /// Whether all marked records are there. To look for them, the input is read once more. Also false where the state
  /// has no marks, or where the input can be read only once.
  [[nodiscard]] virtual bool holds(const journal::StateRecord& record) = 0;
  /// Some of the records below `position` (an ordinal or offset) with their bytes as they were read, in increasing
  /// order. The next state keeps marks of these.
  [[nodiscard]] virtual std::vector<decode::ReadRecord> at_hand(Position position) const = 0;
};

}  // namespace nustream::folder
