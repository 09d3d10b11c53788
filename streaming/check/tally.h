// How many records of an input are of use. Whatever it holds depends on data and is not private: for the operator.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "nustream/record/batch.h"

namespace nustream::check {

/// Records that were refused for one reason.
struct Refused {
  std::uint64_t count = 0;
  Position first{0};  ///< ordinal or offset of one of them: the first that was counted
};

struct Tally {
  std::uint64_t records = 0;
  std::uint64_t rejected = 0;
  std::uint64_t left_over = 0;  ///< records at the end, fewer than a minibatch, that took no step
  std::uint64_t gradients = 0;  ///< of usable records, those that were taken (a table's records: once a pass)
  std::uint64_t clipped = 0;    ///< of those, longer than the clip norm
  bool of_sums = false;         ///< clipped: residuals beyond moments.residual_bound, of running sums
  bool of_users = false;        ///< gradients and clipped: a user's in one step, summed
  std::map<std::string, Refused> reasons;  ///< of the rejected ones, for each

  /// Counts rejects, not records.
  void add(std::span<const record::Reject> rejects);
  /// Counts what another one counted, behind it.
  void add(const Tally& later);
  /// What was counted after `earlier`, an earlier state of this one.
  [[nodiscard]] Tally since(const Tally& earlier) const;
  /// The reason of most, "" where nothing was rejected.
  [[nodiscard]] std::string most_frequent_reason() const;
  /// Shares of what was counted; 0 of nothing.
  [[nodiscard]] double unusable_share() const noexcept;
  [[nodiscard]] double clipped_share() const noexcept;
};

/// Whether `reason` (record::RowBuilder::reason) is that a target is none of the labels of its loss.
[[nodiscard]] bool is_of_label(const std::string& reason);

/// How labels are named, where every rejected record was refused for its label; else "".
[[nodiscard]] std::string label_advice(const Tally& tally);

/// "41 of 66,000 records (0.0621%) could not be used (zero gradients); most often REASON (record 17)"; "" where all
/// could.
[[nodiscard]] std::string unusable_line(const Tally& tally);

/// The same of `records` of an epoch whose reasons nobody keeps, `rejected` of which were unusable: "none of the
/// 6,000 records that this epoch has read could be used: …".
[[nodiscard]] std::string unusable_of_epoch(std::uint64_t rejected, std::uint64_t records);

/// "8,844 of 66,000 gradients (13.4%) were clipped", with what to do where it is most of them; "" where none was.
[[nodiscard]] std::string clipped_line(const Tally& tally);

/// 397,884.
[[nodiscard]] std::string with_separators(std::uint64_t value);
/// "13.4%": three digits; "0%" for nothing alone, "100%" for all alone.
[[nodiscard]] std::string percent(std::uint64_t part, std::uint64_t whole);

}  // namespace nustream::check
