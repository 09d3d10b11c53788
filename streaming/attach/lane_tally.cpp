#include "attach/lane_tally.h"

#include <cstdio>

#include <fmt/format.h>

#include "check/first_look.h"

namespace nustream::attach {
namespace {

constexpr std::chrono::minutes between_lines{10};

}  // namespace

void LaneTally::say(const std::string& what) const {
  if (!what.empty()) fmt::print(stderr, "nustream: lane {}: operator only, not private: {}\n", lane_.value(), what);
}

void LaneTally::read(const record::RowBatch& rows) {
  if (looked_ || rows.count() == 0) return;
  looked_ = true;
  say(check::unusable_at_first(check::tally_of(rows)));
}

void LaneTally::tick(std::chrono::steady_clock::time_point now) {
  if (now - told_at_ < between_lines) return;
  told_at_ = now;
  const check::Tally since = tally_.since(told_);
  told_ = tally_;
  say(check::unusable_line(since));
  if (since.clipped_share() > 0.5) say(check::clipped_line(since));
}

void LaneTally::end() {
  if (ended_) return;
  ended_ = true;
  say(check::unusable_line(tally_));
  say(check::clipped_line(tally_));
}

}  // namespace nustream::attach
