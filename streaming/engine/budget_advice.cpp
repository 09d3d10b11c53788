#include "engine/budget_advice.h"

#include <fmt/format.h>

#include "engine/spent.h"

namespace nustream::engine {

std::string short_of_budget(const config::Mechanism& mechanism, std::optional<StepCount> limit) {
  if (!limit || limit == mechanism.horizon()) return {};
  return fmt::format(
      "privacy.budget ends this epoch after {} steps, at rho {:.6g} of the {:.6g} that its noise is made for, and "
      "what "
      "is spent is not given back: lower privacy.rho to what the budget leaves, or raise the budget",
      limit->value(), mechanism.spend.after(*limit).value(), mechanism.spend.limit().value());
}

std::string short_of_budget(const config::Config& config, const config::Mechanism& mechanism) {
  const std::optional<Rho>& budget = config.privacy.budget;
  if (!budget || mechanism.spend.limit() <= *budget) return {};
  return short_of_budget(mechanism, furthest_within(mechanism.horizon(), *budget,
                                                    [&](StepCount steps) { return mechanism.spend.after(steps); }));
}

}  // namespace nustream::engine
