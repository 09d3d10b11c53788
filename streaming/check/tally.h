// How many records of an input are of use. All counts depend on data and are not private: they are for the operator.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "nustream/record/batch.h"
#include "nustream/users/period.h"

namespace nustream::check {

/// Records that were refused for one reason.
struct Refused {
  std::uint64_t count = 0;
  Position first{0};  ///< ordinal or offset of the first record that was refused for it
};

/// What a clock saw of the records' own times, where the limits of users hold within windows of stream.time.
struct WindowsSeen {
  std::uint64_t without_time = 0;  ///< records whose time cannot be read
  bool in_1970 = false;            ///< no time is later than 1970, as of numbers that are read in too small a unit

  void add(const WindowsSeen& later);
  [[nodiscard]] WindowsSeen since(const WindowsSeen& earlier) const;
};
/// What the clock has seen since its construction; nothing without a clock.
[[nodiscard]] std::optional<WindowsSeen> windows_seen(const users::WindowClock* clock);

struct Tally {
  std::uint64_t records = 0;
  std::uint64_t rejected = 0;
  std::uint64_t left_over = 0;  ///< records at the end, fewer than a minibatch, that took no step
  std::uint64_t gradients = 0;  ///< of usable records, counted each time one is taken (of a table: once a pass)
  std::uint64_t clipped = 0;    ///< how many of the gradients were longer than the clip norm
  bool of_sums = false;         ///< running sums: `clipped` counts residuals beyond moments.residual_bound
  bool of_users = false;        ///< `gradients` and `clipped` count a user's sums in one step
  /// Usable records that counted for nothing, because the limits of their user were used up.
  std::uint64_t used_up = 0;
  std::optional<WindowsSeen> windows{};    ///< nothing where limits hold for ever, or go by the broker's times
  std::map<std::string, Refused> reasons;  ///< why records were rejected, by reason

  /// Counts rejects; `records` stays as it is.
  void add(std::span<const record::Reject> rejects);
  /// Adds the counts of a tally of later records.
  void add(const Tally& later);
  /// What was counted after `earlier`, which is an earlier state of this tally.
  [[nodiscard]] Tally since(const Tally& earlier) const;
  /// The reason of most rejects; "" where nothing was rejected.
  [[nodiscard]] std::string most_frequent_reason() const;
  /// The share of records that were rejected, and of gradients that were clipped; 0 where nothing was counted.
  [[nodiscard]] double unusable_share() const noexcept;
  [[nodiscard]] double clipped_share() const noexcept;
};

/// Whether `reason` (record::RowBuilder::reason) says that a target is none of the labels of its loss.
[[nodiscard]] bool is_of_label(const std::string& reason);

/// Advice on how to name labels, where every rejected record was refused for its label; else "".
[[nodiscard]] std::string label_advice(const Tally& tally);

/// "41 of 66,000 records (0.0621%) could not be used (zero gradients); most often REASON (record 17)", with `advice`
/// (line_advice.h) behind the reason; "" where all records could be used.
[[nodiscard]] std::string unusable_line(const Tally& tally, const std::string& advice = {});

/// That line for an epoch whose reasons nobody keeps: of its `records`, `rejected` were unusable. For example: "none
/// of the 6,000 records that this epoch has read could be used: …".
[[nodiscard]] std::string unusable_of_epoch(std::uint64_t rejected, std::uint64_t records);

/// "8,844 of 66,000 gradients (13.4%) were clipped", with advice where that is most of them; "" where none was
/// clipped.
[[nodiscard]] std::string clipped_line(const Tally& tally);

/// What to do where records count for nothing because limits are used up: a larger limit, but first of all another
/// reading of stream.time where that can be the cause.
[[nodiscard]] std::string used_up_advice(const Tally& tally);
/// "398 of 400 usable records (99.5%) counted for nothing: …" where a tenth or more of them did because the limits of
/// their users were used up; else "". used_up_advice() is in it.
[[nodiscard]] std::string used_up_line(const Tally& tally);

/// The number with separators, such as 397,884.
[[nodiscard]] std::string with_separators(std::uint64_t value);
/// A percentage of three digits, such as "13.4%", or of more where three would say 100. It is "0%" only for none and
/// "100%" only for all.
[[nodiscard]] std::string percent(std::uint64_t part, std::uint64_t whole);

}  // namespace nustream::check
