// What a session asks about the input that its lane is fed from: whether a resumed one is still the same.
#pragma once

#include <vector>

#include "decode/read_record.h"
#include "journal/state_record.h"
#include "nustream/base/units.h"

namespace nustream::folder {

class InputWitness {
 public:
  virtual ~InputWitness() = default;
  /// Called before a state's settings are compared, which may follow from the input's size: Failure(data) where it is
  /// another one.
  virtual void require_same_size(const journal::StateRecord& /*record*/) const {}
  /// Looks for the marked records of a state that is to be resumed, before anything of it is published. Failure(data)
  /// where the input holds others in their place, or ends before the state's position.
  virtual void check(const journal::StateRecord& record) = 0;
  /// Whether they are all there, looked for in a reading of their own: false also where there is none to look for, or
  /// where the input can be read only once.
  [[nodiscard]] virtual bool holds(const journal::StateRecord& record) = 0;
  /// Some records below `position` (an ordinal or offset) that the input held when they were read, in increasing
  /// order.
  [[nodiscard]] virtual std::vector<decode::ReadRecord> at_hand(Position position) const = 0;
};

}  // namespace nustream::folder
