// Puts into words that a budget and a mechanism do not fit: σ is calibrated for the ρ of the whole epoch, so that a
// budget which ends the epoch early has bought noise that is larger than it had to be.
#include "engine/budget_advice.h"

#include <vector>

#include <fmt/format.h>

#include "engine/spent.h"
#include "nustream/privacy/zcdp.h"

namespace nustream::engine {

std::string short_of_budget(const config::Mechanism& mechanism, std::optional<StepCount> limit, std::string_view of) {
  // At the horizon the noise ends by itself, as it was planned.
  if (!limit || limit == mechanism.horizon()) return {};
  if (limit->value() == 0) {
    return fmt::format(
        "{} leaves no room for a single step: lower privacy.rho to what it leaves, or raise the budget", of);
  }
  return fmt::format(
      "{} ends this epoch after {} {}, at rho {:.6g} of the {:.6g} that its noise is made for, and what is spent is "
      "not given back: lower privacy.rho to what the budget leaves, or raise the budget",
      of, limit->value(), limit->value() == 1 ? "step" : "steps", mechanism.spend.after(*limit).value(),
      mechanism.spend.limit().value());
}

std::string short_of_budget(const config::Config& config, const config::Mechanism& mechanism, std::uint64_t runs) {
  const std::optional<Rho>& budget = config.privacy.budget;
  if (!budget) return {};
  // Several runs over the same records cost their sum, and the budget has to pay for all of them.
  if (runs > 1) {
    const std::vector<Rho> of_each(runs, mechanism.spend.limit());
    return short_of_runs(*budget, privacy::compose(of_each), runs);
  }
  // furthest_within() below needs a total that exceeds the budget somewhere.
  if (mechanism.spend.limit() <= *budget) return {};
  return short_of_budget(mechanism, furthest_within(mechanism.horizon(), *budget,
                                                    [&](StepCount steps) { return mechanism.spend.after(steps); }));
}

std::string short_of_table(const config::Config& config) {
  const Rho rho = config::rho_asked(config.privacy);
  if (!config.privacy.budget || rho <= *config.privacy.budget) return {};
  return fmt::format(
      "privacy.budget = {:.6g} is less than the rho {:.6g} that the whole table costs: not all steps will be taken, "
      "and what is spent is not given back: lower privacy.rho to what the budget leaves, or raise the budget",
      config.privacy.budget->value(), rho.value());
}

std::string part_of_budget(const config::Config& config, const config::Mechanism& mechanism) {
  // The advice is for running sums whose noise is made for a stream without an end, because no number of releases is
  // set.
  if (!config.moments || config.moments->releases || config.moments->memory || config.users) return {};
  const std::uint64_t releases = config.problem.records / config.descent.minibatch;
  if (releases == 0) return {};
  return fmt::format(
      "plan.records = {} records spend rho {:.3g} of {:.3g}: without moments.releases the noise is made for a stream "
      "without an end; where there are no more records, moments.releases = {} spends all of it, for less noise",
      config.problem.records, mechanism.spend.after(StepCount{releases}).value(), mechanism.spend.limit().value(),
      releases);
}

std::string short_of_runs(Rho budget, Rho total, std::uint64_t runs, std::string_view of) {
  if (total <= budget) return {};
  return fmt::format(
      "{} = {:.12g} is less than the rho {:.12g} that the ledger comes to with {} runs: not all of them will be "
      "finished, and what is spent is not given back: lower privacy.rho to what the budget leaves, or raise the "
      "budget",
      of, budget.value(), total.value(), runs);
}

}  // namespace nustream::engine
