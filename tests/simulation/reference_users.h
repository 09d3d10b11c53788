// The users of a run that nothing disturbs. Windows of time are those of the rule itself: the product's clock, and
// what it does at a border, are not asked.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "config/config.h"
#include "history.h"
#include "nustream/record/batch.h"
#include "nustream/users/changes.h"
#include "nustream/users/limits.h"
#include "nustream/users/table.h"

namespace nustream::tests {

/// The settings of a lane that is told of no windows. Whoever runs it empties the table, and takes out the records
/// that come behind the border of their step.
[[nodiscard]] config::Config without_windows(config::Config config);

/// The greatest of some times in milliseconds since 1970 up to each of them; empty before the first known one.
using LatestTimes = std::vector<std::optional<std::int64_t>>;

/// A table that takes every step at once.
class ReferenceUsers {
 public:
  /// `before`: what users have used up already. Takes the users of records behind the border of their step, of `m`
  /// records, out of `rows`. `reference` is told of each step, and outlives this.
  ReferenceUsers(const users::Limits& limits, const std::optional<Counts>& before, record::RowBatch& rows,
                 std::uint64_t m, Reference& reference);
  ReferenceUsers(const ReferenceUsers&) = delete;
  ReferenceUsers& operator=(const ReferenceUsers&) = delete;

  /// What the lane's next step uses up.
  [[nodiscard]] users::Changes& open() noexcept { return open_; }
  /// To be called before each step. Everybody begins anew where it is of another window than the step before.
  void begin_step();
  void took_a_step();

 private:
  [[nodiscard]] std::int64_t window_of(std::size_t record) const;
  void take_out_behind_borders(record::RowBatch& rows);
  void tell();

  std::int64_t period_ = 0;  // in milliseconds; 0 where limits hold for ever
  std::size_t m_;
  LatestTimes latest_;
  std::int64_t first_ = 0;  // the first known time
  std::size_t step_ = 0;
  Reference& reference_;
  users::Table table_;
  users::Changes open_{table_};
};

}  // namespace nustream::tests
