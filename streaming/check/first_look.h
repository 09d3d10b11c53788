// What the operator of a run is told about its first records before any of them takes its step. None of it is
// private.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "check/tally.h"
#include "config/config.h"
#include "config/mechanism.h"
#include "nustream/record/batch.h"

namespace nustream::check {

/// How many of the rows have a gradient at θ_0 (descent.start) that is longer than the clip norm. The lane itself
/// counts them in one step over all rows, without noise, and the step is thrown away. The count is not private.
[[nodiscard]] std::uint64_t clipped_at_start(const config::Config& config, const config::Mechanism& mechanism,
                                             const record::RowSlice& rows);

/// What is clipped, and how much of it was.
struct ClipCount {
  std::uint64_t gradients = 0;  ///< or contributions of users
  std::uint64_t clipped = 0;
};

/// The same count where the unit is the user: how many sums of one user's rows in a step of `rows_of_step` rows there
/// are, and how many of them the step shortens: to the clip norm, or in running sums to the radii. The first step
/// begins with the first of the rows, and the last one may be cut off. Limits are left out of account. The rows name
/// their users. Contract: rows_of_step > 0.
[[nodiscard]] ClipCount clipped_contributions(const config::Config& config, const config::Mechanism& mechanism,
                                              const record::RowSlice& rows, std::size_t rows_of_step);

/// How many records are read before their share of usable ones is judged (--min-usable); fewer where the input ends.
inline constexpr std::size_t records_judged = 1000;

/// Counts rows that have taken no step yet.
[[nodiscard]] Tally tally_of(const record::RowBatch& rows);

/// Whether at least a tenth of the records could not be used.
[[nodiscard]] bool is_worth_a_warning(const Tally& tally);

/// "of the first 40 records 40 (100%) cannot be used …" where at least a tenth of those in `first` cannot be used;
/// else "". `missing` is decode::missing_members(), where the caller asked for it; the sentence contains it where a
/// missing member is one of the reasons. `advice` on the reason (line_advice.h) stands behind it.
[[nodiscard]] std::string unusable_at_first(const Tally& first, const std::string& look,
                                            const std::string& missing = {}, const std::string& advice = {});
/// The same sentence, for records that are read with these settings. It looks for the missing members and for advice
/// where there is something to tell.
[[nodiscard]] std::string unusable_at_first(const Tally& first, const config::InputSettings& input,
                                            const record::Schema& schema);

/// Counts what clip_of() names: the gradients of `rows`, of which `usable` can be used, and how many of them are
/// longer than the clip norm at θ_0. Where the unit is the user it counts the users' sums in each step of
/// `rows_of_step` rows, as far as the rows go: the first step begins with the first row.
[[nodiscard]] ClipCount count_clips(const config::Config& config, const config::Mechanism& mechanism,
                                    const record::RowSlice& rows, std::uint64_t usable, std::size_t rows_of_step);
/// The same count in steps of descent.minibatch rows.
[[nodiscard]] ClipCount count_clips(const config::Config& config, const config::Mechanism& mechanism,
                                    const record::RowSlice& rows, std::uint64_t usable);

/// What a run clips, and the setting that says to which length.
struct Clip {
  std::string_view what;     ///< "gradients"; "residuals" of running sums; "contributions of users"
  std::string_view setting;  ///< such as "descent.clip_norm"
  double length;             ///< that of the setting
};
[[nodiscard]] Clip clip_of(const config::Config& config);

/// "of the first 40 gradients …" where nearly all of those that were counted are longer than `clip`; else "".
[[nodiscard]] std::string clipped_at_first(const Tally& first, const Clip& clip, const std::string& look);

/// Throws Failure(unusable) where less than the share `min_usable` of the records in `first` can be used. These
/// records have taken no step. The message depends on data, and is for the operator alone. It names `look`.
void require_usable(const Tally& first, double min_usable, const std::string& look);

}  // namespace nustream::check
