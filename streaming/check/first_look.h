// What the first records of a run tell its operator before any of them takes its step. Nothing of it is private.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "check/tally.h"
#include "config/config.h"
#include "config/mechanism.h"
#include "nustream/record/batch.h"

namespace nustream::check {

/// Of so many records, where there are as many, the share of usable ones is judged (--min-usable).
inline constexpr std::size_t records_judged = 1000;

/// Of rows that took no step yet.
[[nodiscard]] Tally tally_of(const record::RowBatch& rows);

/// Whether a tenth of the records, or more, could not be used.
[[nodiscard]] bool is_worth_a_warning(const Tally& tally);

/// "of the first 40 records 40 (100%) cannot be used …": where a tenth of those in `first`, or more, cannot; else "".
/// `missing`: decode::missing_members(), where it was asked for; told where a member that is missing is a reason.
[[nodiscard]] std::string unusable_at_first(const Tally& first, const std::string& missing = {});

/// Counts the gradients of `rows`, which are the records of `first`, and those that are longer than the clip norm at
/// θ_0.
void count_clips(const config::Config& config, const config::Mechanism& mechanism, const record::RowSlice& rows,
                 Tally& first);

/// What a run clips, and the setting that says to what length.
struct Clip {
  std::string_view what;     ///< "gradients"; of running sums "residuals"
  std::string_view setting;  ///< "descent.clip_norm"
  double length;
};
[[nodiscard]] Clip clip_of(const config::Config& config);

/// "of the first 40 gradients …": where nearly all of those that were counted are longer than `clip`; else "".
[[nodiscard]] std::string clipped_at_first(const Tally& first, const Clip& clip);

/// Failure(unusable) where a share below `min_usable` of the records in `first`, which took no step, can be used. The
/// message tells of data: for the operator alone.
void require_usable(const Tally& first, double min_usable);

}  // namespace nustream::check
