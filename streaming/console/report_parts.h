// What the closing tables of `replay` and `estimate` have in common, as text for people and as JSON.
#pragma once

#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "publish/release_json.h"

namespace nustream::console {

using publish::reported_intervals;
using publish::ReportedIntervals;

/// Prints one line for each coefficient: the last value, the average where there is one, and the bounds where there
/// are intervals. The intervals' mean is printed between the bounds where it is neither of the two values. `note`
/// ends the head line.
void print_estimates(const publish::ShownRelease& release, const std::optional<ReportedIntervals>& intervals,
                     std::string_view note, std::FILE* out);
/// Prints what the intervals cover and how old they are at step `step`.
void print_intervals(const ReportedIntervals& intervals, std::uint64_t step, std::FILE* out);
/// Prints whether the path has settled, and how many gradients were clipped, where the release says so.
void print_verdict(const publish::ShownRelease& release, std::FILE* out);
/// Prints how many directions the noise hides, where it hides any.
void print_hidden(const publish::ShownRelease& release, std::FILE* out);
/// Says which columns' scales have grown, where the release tells of any.
void print_growth(const publish::ShownRelease& release, std::FILE* out);
/// Prints F of the first stage, where the release carries one; for running sums the effective F and the
/// Anderson-Rubin set.
void print_strength(const publish::ShownRelease& release, std::FILE* out);

/// ε of an epoch, or of the runs of an estimate, and of the whole folder where that is more.
struct EpsilonShown {
  std::span<const publish::Epsilons> epsilons;
  bool folder_has_more;
  double folder_rho;
  std::span<const publish::Epsilons> folder_epsilons;
};
/// One line of ε by all conversions: "2.1 at delta 1e-06 (gaussian, the exact curve; zcdp 2.4; zcdp-simple 2.6)".
[[nodiscard]] std::string epsilon_text(const publish::Epsilons& at);
void print_epsilon(const EpsilonShown& shown, std::FILE* out);

/// Writes the fields that follow "rho" in a closing table: its ε, and the ε of all epochs together, at every δ by
/// every conversion.
void append_spends(std::span<const publish::Epsilons> epsilons, double ledger_rho,
                   std::span<const publish::Epsilons> ledger_epsilons, publish::JsonWriter& json);

/// Whom or what ρ protects, in words, such as "per record, replace-one".
[[nodiscard]] std::string protected_unit(const publish::Promise& promise);

}  // namespace nustream::console
