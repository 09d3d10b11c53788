#include "audit/finding.h"

#include <algorithm>

namespace nustream::audit {

double Bounds::shorter_share() const noexcept {
  double largest = 0;
  for (const auto& [stage, share] : shorter) largest = std::max(largest, share);
  return largest;
}

Verdict Finding::verdict() const {
  if (exceeded() || (against_nothing && against_nothing->exceeded()) || !is_within_budget()) return Verdict::exceeded;
  const bool all_shown = is_shown() && (!against_nothing || against_nothing->is_shown()) && unmoved().empty();
  return all_shown ? Verdict::holds : Verdict::not_shown;
}

std::vector<std::string> Finding::unmoved() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < moved.size(); ++i) {
    const double most =
        against_nothing ? std::max(moved[i].second, against_nothing->moved[i].second) : moved[i].second;
    if (!(most >= 0.25)) names.push_back(moved[i].first);
  }
  return names;
}

}  // namespace nustream::audit
