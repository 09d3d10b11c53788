#include "reference_users.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace nustream::tests {
namespace {

LatestTimes latest_of(std::span<const double> times) {
  LatestTimes all;
  std::optional<std::int64_t> latest;
  for (const double time : times) {
    if (!std::isnan(time)) latest = std::max(latest.value_or(INT64_MIN), std::int64_t{std::llround(1000 * time)});
    all.push_back(latest);
  }
  return all;
}

}  // namespace

config::Config without_windows(config::Config config) {
  auto& limits = config.descent.users;
  if (limits && limits->windows()) limits = users::Limits{limits->participation(), limits->mass()};
  return config;
}

ReferenceUsers::ReferenceUsers(const users::Limits& limits, const std::optional<Counts>& before,
                               record::RowBatch& rows, std::uint64_t m, Reference& reference)
    : m_(static_cast<std::size_t>(m)), reference_(reference) {
  if (before) {
    for (const auto& [user, standing] : *before) table_.put({user, 0, standing});
  }
  if (limits.windows()) {
    period_ = limits.windows()->period.length().count();
    latest_ = latest_of(rows.times);
    const auto known = std::ranges::find_if(latest_, [](const auto& time) { return time.has_value(); });
    if (known != latest_.end()) first_ = **known;
    take_out_behind_borders(rows);
  }
  tell();
}

/// The window of the greatest time among the record's and all before. Records before the first known time belong to
/// that time's window.
std::int64_t ReferenceUsers::window_of(std::size_t record) const {
  const std::int64_t time = latest_[record].value_or(first_);
  const std::int64_t into_window = (time % period_ + period_) % period_;
  return (time - into_window) / period_;
}

void ReferenceUsers::take_out_behind_borders(record::RowBatch& rows) {
  for (std::size_t i = 0; i < rows.users.size(); ++i) {
    if (window_of(i) == window_of(i - i % m_)) continue;
    if (!rows.users[i].is_nobody()) ++reference_.behind_border;
    rows.users[i] = {};
  }
}

void ReferenceUsers::begin_step() {
  if (period_ == 0 || step_ == 0 || window_of(step_ * m_) == window_of((step_ - 1) * m_)) return;
  if (table_.size() > 0) ++reference_.borders;
  table_.clear();
}

void ReferenceUsers::took_a_step() {
  open_.apply(table_);
  ++step_;
  tell();
}

void ReferenceUsers::tell() {
  UsersAt at{counts_of(table_)};
  if (period_ > 0 && step_ > 0) {
    at.latest = latest_[step_ * m_ - 1];
    if (at.latest) at.window = window_of((step_ - 1) * m_);
  }
  reference_.users.push_back(std::move(at));
}

}  // namespace nustream::tests
