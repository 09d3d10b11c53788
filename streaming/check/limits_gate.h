// How many records of users a run would not count, because the limits of their users are used up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nustream/record/batch.h"
#include "nustream/users/changes.h"
#include "nustream/users/contribution.h"
#include "nustream/users/limits.h"
#include "nustream/users/period.h"
#include "nustream/users/table.h"

namespace nustream::check {

/// The gate of a run, without a run: it asks what a lane asks of each record (users::StepContributions). No gradient
/// is known here, so that each contribution is charged in full; under a mass alone a run may count more records.
/// Everybody begins with nothing used up. The count is not private.
class LimitsGate {
 public:
  /// A step takes `minibatch` records.
  LimitsGate(const users::Limits& limits, std::size_t minibatch);

  /// Takes rows, which name their users, and the steps that they complete: rows may come in batches of any size. Once
  /// more than `most_users` users are known, no more rows are looked at: this bounds the memory.
  void take(const record::RowBatch& rows, std::size_t most_users);
  /// How many records did not take part.
  [[nodiscard]] std::uint64_t beyond_limits() const noexcept { return contributions_.beyond_limits(); }
  /// The clock of the windows; null where the limits hold for ever.
  [[nodiscard]] const users::WindowClock* clock() const noexcept { return clock_ ? &*clock_ : nullptr; }

 private:
  void step(std::span<const record::RowUser> users, std::span<const double> times);

  std::size_t minibatch_;
  users::Table table_;
  users::Changes changes_{table_};
  users::StepContributions contributions_;
  std::optional<users::WindowClock> clock_;
  std::uint64_t steps_ = 0;
  // Rows that wait for the rest of their step:
  std::vector<record::RowUser> users_{};
  std::vector<double> times_{};
};

}  // namespace nustream::check
