// The rows of a part where the unit of privacy is the user: those of each user come one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "nustream/ranges/stride.h"
#include "nustream/ranges/table_fit.h"
#include "nustream/users/changes.h"
#include "nustream/users/contribution.h"
#include "nustream/users/table.h"

namespace nustream::ranges {

/// Called after the last row of a user. Where the unit is the record it is not called.
using EndUser = std::function<void()>;

/// The rows of a table in the order of a stride, which the stages share.
struct Rows {
  const Table& table;
  Stride stride;
  Dealer dealer;

  explicit Rows(const Table& of) : table(of), stride(of.records()), dealer(of.records()) {}
  /// The value of column j of a row. The target comes after the features.
  [[nodiscard]] double value(std::uint64_t position, std::size_t column) const noexcept {
    return column == table.features ? table.y[position] : table.x[position * table.features + column];
  }
  [[nodiscard]] bool are_of_users() const noexcept { return !table.users.empty(); }
  /// Hands over the position of each row of the part, in the order of places. Where the unit is the user, rows that
  /// belong to nobody are left out, each user's rows come one after the other, and `end` is called behind them. What
  /// is known of users lasts as long as the call.
  void each(const Part& part, const std::function<void(std::uint64_t position)>& visit, const EndUser& end) const;
};

/// Sums what the rows of one user add to a release, one user after the other, and shortens each user's sum.
///
/// Guarantee: that of users::StepContributions for a user without other limits. The units that end_user() returns are
/// at most bound/s long in each block, in exact arithmetic, whatever the user's rows hold and however many there are.
/// All blocks are shortened by one factor.
class UserSums {
 public:
  explicit UserSums(std::vector<users::ContributionBlock> blocks);
  /// Adds one row of the user whose turn it is: the entries of all blocks, one block after the other.
  void add(std::span<const double> entries);
  /// Ends that user's turn, and returns what the user adds to all blocks. It holds until the next call.
  [[nodiscard]] std::span<const std::int64_t> end_user();

 private:
  users::Table table_;  // stays empty: a user's sum is released once, and nothing of it is kept
  users::Changes changes_{table_};
  users::StepContributions contributions_;
  std::vector<std::int64_t> units_;
};

}  // namespace nustream::ranges
