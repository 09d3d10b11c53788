// What the operator of a lane is told of its records: at once, now and then, and at its end. Nothing of it is
// private, and nothing of it decides what the lane does.
#pragma once

#include <chrono>
#include <string>

#include "check/tally.h"
#include "nustream/base/units.h"
#include "nustream/record/batch.h"

namespace nustream::attach {

/// Counts what one lane of this process was fed, and says it in the log. One thread.
class LaneTally {
 public:
  explicit LaneTally(LaneId lane) : lane_(lane) {}

  /// Rows that were read and took no step yet. Of the first ones it says at once where many cannot be used.
  void read(const record::RowBatch& rows);
  /// Records of a batch that is durable: one that is computed again counts once.
  void committed(const check::Tally& batch) { tally_.add(batch); }
  /// Says what was counted since the last time, at most once in ten minutes, where some of it could not be used or
  /// most was clipped.
  void tick(std::chrono::steady_clock::time_point now);
  /// Says what was counted in all: the lane ends, or leaves.
  void end();

 private:
  void say(const std::string& what) const;

  LaneId lane_;
  bool looked_ = false;
  bool ended_ = false;
  check::Tally tally_;
  check::Tally told_;  // as of the last line
  std::chrono::steady_clock::time_point told_at_ = std::chrono::steady_clock::now();
};

}  // namespace nustream::attach
