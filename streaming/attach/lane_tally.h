// What the operator of a lane is told of its records: at once, now and then, and at its end. Nothing of it is
// private, and nothing of it decides what the lane does.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "check/first_look.h"
#include "check/tally.h"
#include "nustream/base/units.h"
#include "nustream/record/batch.h"

namespace nustream::attach {

/// Counts what one lane of this process was fed, and says it in the log. One thread.
class LaneTally {
 public:
  explicit LaneTally(LaneId lane) : lane_(lane) {}

  /// Counts of the gradients of rows those that are clipped where the lane begins.
  using CountClips = std::function<std::uint64_t(const record::RowSlice& rows)>;

  /// Rows that were read and took no step yet, those from `first` on for the first time. Of the first hundred records
  /// it says at once where many cannot be used, or nearly all are clipped at `clip`. `count_clips` is empty where the
  /// lane goes on from other steps. `missing` is asked for what the first records lack (decode::MemberNames), where
  /// it is not empty.
  void read(const record::RowBatch& rows, std::size_t first, const check::Clip& clip, const CountClips& count_clips,
            const std::function<std::string()>& missing = {});
  /// Records of a batch that is durable: one that is computed again counts once.
  void committed(const check::Tally& batch) { tally_.add(batch); }
  /// Says what was counted since the last time, at most once in ten minutes, where some of it could not be used or
  /// was clipped.
  void tick(std::chrono::steady_clock::time_point now);
  /// Says what was counted in all: the lane ends, or leaves.
  void end();

 private:
  void say(const std::string& what, bool is_trouble) const;
  void say_shares(const check::Tally& tally) const;

  LaneId lane_;
  check::Tally first_;  // of the first records
  bool told_unusable_ = false;
  bool told_clipped_ = false;
  bool ended_ = false;
  check::Tally tally_;
  check::Tally told_;  // as of the last line
  std::chrono::steady_clock::time_point told_at_ = std::chrono::steady_clock::now();
};

}  // namespace nustream::attach
