// Counts of records and gradients that are of use, their sums and differences, and the sentences that operators read.
// Shares are of counts without noise: none of this is public.
#include "check/tally.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

namespace nustream::check {
namespace {

// Above this share of clipped gradients, the clip norm decides the answer more than the records do.
constexpr double most = 0.5;
constexpr const char* not_named = ": not one of model.labels";  // how a reason ends where labels have names
// Where limits hold, it is normal that some records are beyond them.
constexpr double used_up_worth_a_line = 0.1;

double share(std::uint64_t part, std::uint64_t whole) noexcept {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void WindowsSeen::add(const WindowsSeen& later) {
  without_time += later.without_time;
  in_1970 = later.in_1970;  // by the latest time of all
}

WindowsSeen WindowsSeen::since(const WindowsSeen& earlier) const {
  return {without_time - earlier.without_time, in_1970};
}

std::optional<WindowsSeen> windows_seen(const users::WindowClock* clock) {
  if (clock == nullptr) return std::nullopt;
  constexpr std::chrono::years one{1};
  const auto latest = clock->latest();
  return WindowsSeen{clock->without_time(), latest && *latest > -one && *latest < one};
}

void Tally::add(std::span<const record::Reject> rejects) {
  rejected += rejects.size();
  for (const record::Reject& reject : rejects) {
    Refused& refused = reasons[reject.reason];
    if (refused.count++ == 0) refused.first = reject.position;
  }
}

void Tally::add(const Tally& later) {
  records += later.records;
  rejected += later.rejected;
  left_over += later.left_over;
  gradients += later.gradients;
  clipped += later.clipped;
  of_sums |= later.of_sums;
  of_users |= later.of_users;
  used_up += later.used_up;
  if (windows && later.windows) {
    windows->add(*later.windows);
  } else if (later.windows) {
    windows = later.windows;
  }
  for (const auto& [reason, refused] : later.reasons) {
    Refused& here = reasons[reason];
    if (here.count == 0) here.first = refused.first;
    here.count += refused.count;
  }
}

/// Reasons keep the first record of the whole tally, which may lie before `earlier`.
Tally Tally::since(const Tally& earlier) const {
  Tally after = *this;
  after.records -= earlier.records;
  after.rejected -= earlier.rejected;
  after.left_over -= earlier.left_over;
  after.gradients -= earlier.gradients;
  after.clipped -= earlier.clipped;
  after.used_up -= earlier.used_up;
  if (windows && earlier.windows) after.windows = windows->since(*earlier.windows);
  // An earlier state of the same tally has no reason that the later one lacks.
  for (const auto& [reason, refused] : earlier.reasons) after.reasons.at(reason).count -= refused.count;
  std::erase_if(after.reasons, [](const auto& each) { return each.second.count == 0; });
  return after;
}

std::string Tally::most_frequent_reason() const {
  const auto fewer = [](const auto& left, const auto& right) { return left.second.count < right.second.count; };
  const auto found = std::max_element(reasons.begin(), reasons.end(), fewer);
  return found == reasons.end() ? std::string() : found->first;
}

double Tally::unusable_share() const noexcept {
  return share(rejected, records);
}

double Tally::clipped_share() const noexcept {
  return share(clipped, gradients);
}

bool is_of_label(const std::string& reason) {
  return reason.find(": not a label 0") != std::string::npos || reason.ends_with(not_named);
}

std::string label_advice(const Tally& tally) {
  const bool all = tally.rejected > 0 && std::all_of(tally.reasons.begin(), tally.reasons.end(),
                                                     [](const auto& each) { return is_of_label(each.first); });
  if (!all) return {};
  const bool are_named = std::any_of(tally.reasons.begin(), tally.reasons.end(),
                                     [](const auto& each) { return each.first.ends_with(not_named); });
  if (are_named) {
    return "all of them were refused for their label alone: model.labels has to hold the texts as they are in the "
           "data, class 0 first";
  }
  return "all of them were refused for their label alone: where the labels are not 0 and 1 (or 0 to K - 1), name the "
         "classes, class 0 first, such as model.labels = [\"-1\", \"1\"], [\"1\", \"2\"] or [\"no\", \"yes\"]";
}

std::string unusable_line(const Tally& tally, const std::string& advice) {
  if (tally.rejected == 0) return {};
  const std::string records = with_separators(tally.records);
  const std::string reason = tally.most_frequent_reason();
  std::string line =
      tally.rejected == tally.records
          ? fmt::format("none of {} records could be used: every step was noise alone", records)
          : fmt::format("{} of {} records ({}) could not be used (zero gradients)", with_separators(tally.rejected),
                        records, percent(tally.rejected, tally.records));
  line += fmt::format("; most often {} (record {}){}", reason, tally.reasons.at(reason).first.value(), advice);
  const std::string labels = label_advice(tally);
  return labels.empty() ? line : line + "; " + labels;
}

std::string unusable_of_epoch(std::uint64_t rejected, std::uint64_t records) {
  if (rejected == 0) return {};
  const std::string all = with_separators(records);
  if (rejected >= records) {
    return fmt::format("none of the {} records that this epoch has read could be used: every step was noise alone",
                       all);
  }
  return fmt::format("{} of the {} records that this epoch has read ({}) could not be used (zero gradients)",
                     with_separators(rejected), all, percent(rejected, records));
}

/// The name of the things that are clipped one by one.
const char* clipped_name(const Tally& tally) {
  return tally.of_users ? "contributions of users" : tally.of_sums ? "residuals" : "gradients";
}

std::string clipped_line(const Tally& tally) {
  if (tally.clipped == 0) return {};
  std::string line =
      fmt::format("{} of {} {} ({}) were clipped", with_separators(tally.clipped), with_separators(tally.gradients),
                  clipped_name(tally), percent(tally.clipped, tally.gradients));
  if (tally.clipped_share() > most) {
    line += ": so much clipping biases the estimate: centre and scale the columns by public figures, or raise ";
    line += !tally.of_sums ? "descent.clip_norm" : tally.of_users ? "moments.row_norm" : "moments.residual_bound";
  }
  return line;
}

namespace {

/// Why windows may not have ended where they should have; "" where the times give no hint.
std::string fault_of_times(const Tally& tally) {
  if (!tally.windows) return {};
  if (share(tally.windows->without_time, tally.records) > most) {
    return fmt::format(
        "{} of {} records have no time there that can be read: set stream.time_unit, or write times "
        "such as 2010-01-31T09:00",
        with_separators(tally.windows->without_time), with_separators(tally.records));
  }
  if (tally.windows->in_1970) return "its times lie in 1970: set stream.time_unit to the unit that they count";
  return {};
}

}  // namespace

std::string used_up_advice(const Tally& tally) {
  const std::string times = fault_of_times(tally);
  const char* const larger = "a larger limit lets more of them count, and costs more noise";
  if (times.empty()) return larger;
  return fmt::format("look at stream.time first, by which the windows of users.period end: {}; else {}", times,
                     larger);
}

std::string used_up_line(const Tally& tally) {
  const std::uint64_t usable = tally.records - tally.rejected;
  if (share(tally.used_up, usable) < used_up_worth_a_line || tally.used_up == 0) return {};
  return fmt::format(
      "{} of {} usable records ({}) counted for nothing: the limits of their users were used up "
      "(users.participations, users.mass): {}",
      with_separators(tally.used_up), with_separators(usable), percent(tally.used_up, usable), used_up_advice(tally));
}

std::string with_separators(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  const double exact = 100 * share(part, whole);
  // Rounding must not show "100%" where some are missing. Then more digits are shown, as few as make a difference.
  constexpr int digits_max = 6;
  std::string shown = fmt::format("{:.3g}", exact);
  for (int digits = 4; part != whole && shown == "100" && digits <= digits_max; ++digits) {
    shown = fmt::format("{:.{}g}", exact, digits);
  }
  return (part != whole && shown == "100" ? "99.9999" : shown) + "%";
}

}  // namespace nustream::check
