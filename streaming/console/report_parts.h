// What the closing tables of `replay` and `estimate` have in common, for people and as JSON.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "publish/release_json.h"
#include "publish/reported.h"

namespace nustream::console {

using publish::reported_intervals;
using publish::ReportedIntervals;

/// One line a coefficient: last, averaged where there is an average, bounds (and the mean in their middle, where that
/// is neither) where there are intervals. `note` ends the head line.
void print_estimates(const publish::ShownRelease& release, const std::optional<ReportedIntervals>& intervals,
                     std::string_view note, std::FILE* out);
/// What the intervals are worth at step `step`.
void print_intervals(const ReportedIntervals& intervals, std::uint64_t step, std::FILE* out);
/// F of the first stage, where the release carries one.
void print_strength(const publish::ShownRelease& release, std::FILE* out);

/// ε of an epoch, or of the runs of an estimate; and of the whole folder where that is more.
struct EpsilonShown {
  double epsilon;
  bool folder_has_more;
  double folder_rho;
  double folder_epsilon;
  double delta;
  std::string_view conversion;
};
void print_epsilon(const EpsilonShown& shown, std::FILE* out);

/// Whose ρ it is.
[[nodiscard]] std::string protected_unit(const publish::Promise& promise);

}  // namespace nustream::console
