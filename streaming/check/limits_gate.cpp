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
  constexpr std::array one{1.0};
  // Rows without times tell no window.
  if (clock_ && rows.times.empty()) return;
  for (std::size_t first = 0; first + minibatch_ <= rows.count() && table_.size() <= most_users;
       first += minibatch_) {
    std::size_t within = minibatch_;
    if (clock_) within = users::take_times(std::span(rows.times).subspan(first, minibatch_), true, *clock_, changes_);
    contributions_.begin(StepIndex{steps_++});
    for (const record::RowUser& of : std::span(rows.users).subspan(first, within)) {
      const users::UserHash user{of.high, of.low};
      if (of.is_nobody() || !contributions_.takes_part(user, changes_)) continue;
      static_cast<void>(contributions_.add(user, of.number, one));
    }
    std::array<std::int64_t, 1> units{};
    static_cast<void>(contributions_.settle(changes_, units));
    changes_.apply(table_);
  }
}

}  // namespace nustream::check
