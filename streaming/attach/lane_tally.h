// What the operator of a lane is told of its records: after the first hundred, every ten minutes, and at the end.
// These lines are for the operator alone, since no noise protects them. Nothing that the lane does depends on them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "check/constant_columns.h"
#include "check/first_look.h"
#include "check/tally.h"
#include "nustream/base/units.h"
#include "nustream/record/batch.h"
#include "nustream/record/schema.h"

namespace nustream::attach {

/// Counts the records that one lane of this process was fed, and says in the log how many were of use. To be used
/// from one thread.
class LaneTally {
 public:
  /// `look` is the command that shows an operator more of the records (InputSettings::look).
  LaneTally(LaneId lane, std::string look) : lane_(lane), look_(std::move(look)) {}

  /// Calls check::count_clips() on rows, of which `usable` can be used.
  using CountClips = std::function<check::ClipCount(const record::RowSlice& rows, std::size_t usable)>;

  /// Looks at rows that were read and took no step yet; those from `first` on are seen for the first time. Until a
  /// hundred records have been seen, it says at once if many of them cannot be used, or if nearly all are clipped at
  /// `clip`. `count_clips` is empty where the lane goes on from earlier steps, because its parameters have moved by
  /// then. `missing` may be empty; otherwise it tells which columns the first records lack (decode::MemberNames).
  void read(const record::RowBatch& rows, std::size_t first, const check::Clip& clip, const CountClips& count_clips,
            const std::function<std::string()>& missing = {});
  /// Compares rows that were read and took no step yet, from `first` on, with the first row. Once a hundred usable
  /// rows have been seen, or at the end, it names the columns that have one value in all of them. It does so once. To
  /// be called where the lane begins.
  void compare(const record::RowBatch& rows, std::size_t first, const record::Schema& schema);
  /// Adds the records of a batch, once it is durable. So a batch that was lost and is computed again counts once.
  void committed(const check::Tally& batch) { tally_.add(batch); }
  /// Says what was counted since the last time, at most once in ten minutes. It says nothing where every record was
  /// of use and none was clipped.
  void tick(std::chrono::steady_clock::time_point now);
  /// Says what was counted in all. To be called when the lane ends or leaves; further calls do nothing.
  void end();

 private:
  void say(const std::string& what, bool is_trouble) const;
  void say_shares(const check::Tally& tally) const;
  void say_constant();

  LaneId lane_;
  std::string look_;
  check::Tally first_;  // of the first records
  bool told_unusable_ = false;
  bool told_clipped_ = false;
  std::optional<check::ConstantColumns> columns_;  // of the first records of a lane that begins
  bool told_constant_ = false;
  bool ended_ = false;
  check::Tally tally_;
  check::Tally told_;  // as of the last line
  std::chrono::steady_clock::time_point told_at_ = std::chrono::steady_clock::now();
};

}  // namespace nustream::attach
