// The steps of a lane, of which only the gate and the charge are left: each record that takes part contributes 1.
#include "check/limits_gate.h"

#include <array>
#include <span>

#include "nustream/base/units.h"
#include "nustream/users/border.h"

namespace nustream::check {
namespace {

// A contribution of one entry, whose bound is as long as one record's: each is charged in full.
users::ContributionBlock of_full_length() {
  return {1, 1, 0x1p-20};
}

}  // namespace

LimitsGate::LimitsGate(const users::Limits& limits, std::size_t minibatch)
    : minibatch_(minibatch), contributions_({of_full_length()}, limits) {
  if (limits.windows()) clock_.emplace(limits.windows()->period);
}

void LimitsGate::take(const record::RowBatch& rows, std::size_t most_users) {
  // Rows without times tell no window.
  if ((clock_ && rows.times.empty()) || table_.size() > most_users) return;
  users_.insert(users_.end(), rows.users.begin(), rows.users.end());
  if (clock_) times_.insert(times_.end(), rows.times.begin(), rows.times.end());
  std::size_t taken = 0;
  for (; taken + minibatch_ <= users_.size() && table_.size() <= most_users; taken += minibatch_) {
    step(std::span(users_).subspan(taken, minibatch_),
         clock_ ? std::span(times_).subspan(taken, minibatch_) : std::span<double>());
  }
  users_.erase(users_.begin(), users_.begin() + static_cast<std::ptrdiff_t>(taken));
  if (clock_) times_.erase(times_.begin(), times_.begin() + static_cast<std::ptrdiff_t>(taken));
}

void LimitsGate::step(std::span<const record::RowUser> users, std::span<const double> times) {
  constexpr std::array one{1.0};
  // Where a window ends within a step, the records behind its end take no part.
  const std::size_t within = clock_ ? users::take_times(times, true, *clock_, changes_) : users.size();
  contributions_.begin(StepIndex{steps_++});
  for (const record::RowUser& of : users.first(within)) {
    const users::UserHash user{of.high, of.low};
    if (of.is_nobody() || !contributions_.takes_part(user, changes_)) continue;
    static_cast<void>(contributions_.add(user, of.number, one));
  }
  std::array<std::int64_t, 1> units{};
  static_cast<void>(contributions_.settle(changes_, units));
  changes_.apply(table_);
}

}  // namespace nustream::check
