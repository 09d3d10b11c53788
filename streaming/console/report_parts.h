// What the closing tables of `replay` and `estimate` have in common, for people and as JSON.
#pragma once

#include <cstdio>
#include <optional>
#include <span>
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
/// Whether the path has settled, and how many gradients were clipped, where the release says so.
void print_verdict(const publish::ShownRelease& release, std::FILE* out);
/// How many directions noise hides, where there are any.
void print_hidden(const publish::ShownRelease& release, std::FILE* out);
/// F of the first stage, where the release carries one; of running sums the effective one and the Anderson-Rubin set.
void print_strength(const publish::ShownRelease& release, std::FILE* out);

/// ε of an epoch, or of the runs of an estimate; and of the whole folder where that is more.
struct EpsilonShown {
  std::span<const publish::Epsilons> epsilons;
  bool folder_has_more;
  double folder_rho;
  std::span<const publish::Epsilons> folder_epsilons;
};
/// "2.1 at delta 1e-06 (gaussian, the exact curve; zcdp 2.4; zcdp-simple 2.6)".
[[nodiscard]] std::string epsilon_text(const publish::Epsilons& at);
void print_epsilon(const EpsilonShown& shown, std::FILE* out);

/// The fields behind "rho" of a closing table: its ε, what all epochs together come to, at every δ by every
/// conversion.
void append_spends(std::span<const publish::Epsilons> epsilons, double ledger_rho,
                   std::span<const publish::Epsilons> ledger_epsilons, std::string& out);

/// Whose ρ it is.
[[nodiscard]] std::string protected_unit(const publish::Promise& promise);

}  // namespace nustream::console
