// The verdict of an audit, and its reasons in words. A claim is exceeded where more was proven in any pair of worlds;
// it holds only if in addition an audit of half the noise would have failed, in all stages.
#include "audit/finding.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace nustream::audit {

double Bounds::shorter_share() const noexcept {
  double largest = 0;
  for (const auto& [stage, share] : shorter) largest = std::max(largest, share);
  return largest;
}

Verdict Finding::verdict() const {
  // This comes first: what was proven above the claim is proven, even if some stage was hardly moved.
  if (exceeded() || (against_nothing && against_nothing->exceeded()) || !is_within_budget()) return Verdict::exceeded;
  const bool all_shown = is_shown() && (!against_nothing || against_nothing->is_shown()) && unmoved().empty();
  return all_shown ? Verdict::holds : Verdict::not_shown;
}

std::vector<std::string> Finding::unmoved() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < moved.size(); ++i) {
    const double most =
        against_nothing ? std::max(moved[i].second, against_nothing->moved[i].second) : moved[i].second;
    // A fourth of ρ is half of μ = √(2ρ). A share that is NaN counts as not moved.
    if (!(most >= 0.25)) names.push_back(moved[i].first);
  }
  return names;
}

namespace {

/// Why these games could not have found a false claim; nothing where they could have.
std::optional<std::string> why_not_shown(const Bounds& bounds) {
  if (bounds.is_shown()) return std::nullopt;
  if (bounds.is_provable()) {
    return "less than half of mu was proven, so that a claim that is false would not have shown: take more games "
           "(--runs) or a larger rho";
  }
  return fmt::format(
      "so many games can prove no mu above {:.4g}, whatever the mechanism: take a smaller rho, or more games",
      bounds.mu_provable);
}

}  // namespace

std::vector<std::string> what_was_not_shown(const Finding& finding) {
  std::vector<std::string> reasons;
  for (const std::string& stage : finding.unmoved()) {
    reasons.push_back(fmt::format(
        "the record hardly moved the {0}, so that too little noise there would not have shown: lower the {0}'s clip "
        "norm to what the columns reach, take a small step (--set descent.step_size=1e-4: no claim depends on it) "
        "or, of a stream, let the record come later (--at)",
        stage));
  }
  for (const Bounds* bounds :
       {static_cast<const Bounds*>(&finding), finding.against_nothing ? &*finding.against_nothing : nullptr}) {
    if (bounds == nullptr) continue;
    if (auto reason = why_not_shown(*bounds)) reasons.push_back(std::move(*reason));
  }
  return reasons;
}

std::string verdict_text(const Finding& finding) {
  switch (finding.verdict()) {
    case Verdict::holds:
      return "the claim holds: nothing above it was proven\n";
    case Verdict::not_shown: {
      std::string text;
      for (const std::string& reason : what_was_not_shown(finding)) text += "NOT SHOWN: " + reason + '\n';
      return text;
    }
    case Verdict::exceeded:
      break;
  }
  // Games were played, and they proved more than is claimed. Otherwise settings and mechanism contradict each other
  // before any game.
  if (finding.is_within_budget()) {
    return "THE CLAIM DOES NOT HOLD: an adversary tells the record more surely than it allows\n";
  }
  return fmt::format(
      "THE CLAIM DOES NOT HOLD: over the stream's whole life the mechanism costs rho {:.6g}, more than the {:.6g} "
      "that the settings ask for\n",
      finding.rho_limit, finding.rho_asked);
}

}  // namespace nustream::audit
