// What the first records of a run tell its operator before any of them takes its step. None of it is private.
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

struct ClippedContributions {
  std::uint64_t contributions = 0;
  std::uint64_t clipped = 0;
};

/// The same where the unit is the user: how many sums of one user's rows in a step of descent.minibatch rows there
/// are, and how many of them are longer than the clip norm. Limits are left out of account. The rows name their
/// users. Contract: the model is estimated by descent.
[[nodiscard]] ClippedContributions clipped_contributions(const config::Config& config,
                                                         const config::Mechanism& mechanism,
                                                         const record::RowSlice& rows);

/// How many records are read before their share of usable ones is judged (--min-usable); fewer where the input ends.
inline constexpr std::size_t records_judged = 1000;

/// Counts rows that have taken no step yet.
[[nodiscard]] Tally tally_of(const record::RowBatch& rows);

/// Whether at least a tenth of the records could not be used.
[[nodiscard]] bool is_worth_a_warning(const Tally& tally);

/// "of the first 40 records 40 (100%) cannot be used …" where at least a tenth of those in `first` cannot be used;
/// else
/// "". `missing` is decode::missing_members(), where the caller asked for it; the sentence holds it where a missing
/// member is one of the reasons.
[[nodiscard]] std::string unusable_at_first(const Tally& first, const std::string& missing = {});

/// Counts the gradients of `rows`, which are the records of `first`, and how many of them are longer than the clip
/// norm at θ_0.
void count_clips(const config::Config& config, const config::Mechanism& mechanism, const record::RowSlice& rows,
                 Tally& first);

/// What a run clips, and the setting that says to which length.
struct Clip {
  std::string_view what;     ///< "gradients", or "residuals" where the model is running sums
  std::string_view setting;  ///< such as "descent.clip_norm"
  double length;
};
[[nodiscard]] Clip clip_of(const config::Config& config);

/// "of the first 40 gradients …" where nearly all of those that were counted are longer than `clip`; else "".
[[nodiscard]] std::string clipped_at_first(const Tally& first, const Clip& clip);

/// Throws Failure(unusable) where less than the share `min_usable` of the records in `first`, which have taken no
/// step, can be used. The message depends on data, and is for the operator alone.
void require_usable(const Tally& first, double min_usable);

}  // namespace nustream::check
