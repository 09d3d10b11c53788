// Sentences for the operator about a lane's records. Everything here depends on data that no noise protects, and so
// it goes to the log alone, marked as such, and nothing of the lane ever asks for it.
#include "attach/lane_tally.h"

#include <algorithm>
#include <cstdio>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "check/first_look.h"
#include "log/log.h"

namespace nustream::attach {
namespace {

constexpr std::chrono::minutes between_lines{10};
constexpr std::uint64_t looked_at = 100;  // the number of first records about which the log says something at once
constexpr std::uint64_t gradients_judged = 10;  // fewer gradients say little of the clip norm

}  // namespace

/// Writes one entry, marked as not private; none where there is nothing to say.
void LaneTally::say(const std::string& what, bool is_trouble) const {
  if (what.empty()) return;
  log::write({is_trouble ? log::Level::warning : log::Level::info,
              "records_of_lane",
              fmt::format("lane {}: operator only, not private: {}", lane_.value(), what),
              {{"lane", std::uint64_t{lane_.value()}}}});
}

/// Says which share of records was unusable, which share of gradients was clipped, and how often users had used up
/// their limits.
void LaneTally::say_shares(const check::Tally& tally) const {
  const std::string unusable = check::unusable_line(tally);
  say(unusable.empty() ? unusable : unusable + ": " + look_ + " shows more", check::is_worth_a_warning(tally));
  say(check::clipped_line(tally), false);
  say(check::used_up_line(tally), true);
}

void LaneTally::read(const record::RowBatch& rows, std::size_t first, const check::Clip& clip,
                     const CountClips& count_clips, const std::function<std::string()>& missing) {
  // After the first records the lines by the clock are enough.
  if (first >= rows.count() || first_.records >= looked_at) return;
  // Rejects are kept by position, not by row: those at or behind the end of row `first` - 1 are new.
  const std::uint64_t before = first == 0 ? 0 : rows.next[first - 1];
  const auto is_new = [&](const record::Reject& reject) { return reject.position.value() >= before; };
  const auto rejects = std::find_if(rows.rejects.begin(), rows.rejects.end(), is_new);
  first_.records += rows.count() - first;
  first_.add(std::span(rejects, rows.rejects.end()));
  if (count_clips) {
    const std::size_t usable = rows.count() - first - static_cast<std::size_t>(rows.rejects.end() - rejects);
    const check::ClipCount clips = count_clips(record::slice(rows, first, rows.count()), usable);
    first_.gradients += clips.gradients;
    first_.clipped += clips.clipped;
  }
  // Each kind of trouble is told once.
  const auto tell = [&](bool& told, const std::string& what) {
    if (!told) say(what, true);
    told |= !what.empty();
  };
  // Looking for the missing columns costs time, and is only done where something is said.
  const bool is_asked = missing && !told_unusable_ && check::is_worth_a_warning(first_);
  tell(told_unusable_, check::unusable_at_first(first_, look_, is_asked ? missing() : std::string()));
  if (first_.gradients >= gradients_judged) tell(told_clipped_, check::clipped_at_first(first_, clip, look_));
}

void LaneTally::compare(const record::RowBatch& rows, std::size_t first, const record::Schema& schema) {
  if (told_constant_ || first >= rows.count()) return;
  if (!columns_) columns_.emplace(schema);
  columns_->take(rows, first);
  if (columns_->usable() >= looked_at) say_constant();
}

void LaneTally::say_constant() {
  // This is said once, also where the lane ends before enough rows were seen.
  if (!columns_ || std::exchange(told_constant_, true)) return;
  say(columns_->in_words(check::ConstantColumns::Of::first_records, look_), true);
}

void LaneTally::tick(std::chrono::steady_clock::time_point now) {
  // These lines are kept rare, so that they do not drown others in the log.
  if (now - told_at_ < between_lines) return;
  told_at_ = now;
  const check::Tally since = tally_.since(told_);
  told_ = tally_;
  say_shares(since);
}

void LaneTally::end() {
  // Both a lane that ends and one that leaves come here.
  if (ended_) return;
  ended_ = true;
  say_constant();
  say_shares(tally_);
}

}  // namespace nustream::attach
