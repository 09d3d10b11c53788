// Checks a correlation when it is made, and answers for its horizon. Whoever holds a Correlation therefore holds one
// whose sensitivity is finite over its horizon, or over all steps where it has none.
#include "nustream/noise/correlation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/shown.h"
#include "overload.h"

namespace nustream::noise {
namespace {

constexpr unsigned tallest_tree = 40;

void check_horizon(const StepCount& horizon) {
  if (horizon.value() == 0) refuse("horizon", horizon.value(), "at least 1 step");
}

/// A first coefficient of 1 fixes the scale: the fresh noise of a step then has the standard deviation σΔ in every
/// family.
void check_coefficients(const char* name, const std::vector<double>& coefficients) {
  if (coefficients.empty()) throw InvalidParameter(name, "no coefficients", "at least the first, which is 1");
  if (coefficients.front() != 1) refuse(name, coefficients.front(), "1 as the first coefficient");
  for (const double coefficient : coefficients) {
    if (!std::isfinite(coefficient)) refuse(name, coefficient, "finite coefficients");
  }
}

/// Σ_{t≥1} |β_t|. Below 1 it proves that c decays, which is what an endless window needs.
double absolute_sum_after_first(const std::vector<double>& coefficients) {
  double sum = 0;
  for (std::size_t t = 1; t < coefficients.size(); ++t) sum += std::abs(coefficients[t]);
  return sum;
}

// The checks of rational, dense and restarted correlations are empty: these were checked when they were made.
void check(const Independent&) {}
void check(const Rational&) {}

void check(const NuFtrl& family) {
  if (family.horizon) return check_horizon(*family.horizon);
  // At ν = 0 the sensitivity squared grows as the logarithm of the number of steps, so no spend covers all of them.
  if (family.nu.value() == 0) throw InvalidParameter("horizon", "none", "a finite horizon where nu = 0");
}

// Undamped anti-PGD has γ_T² = T. The damped family has no horizon, so its damping must not be 0.
void check(const DampedAntiPgd& family) {
  if (family.nu.value() == 0) refuse("nu", family.nu.value(), "0 < nu < 1; undamped, use anti-pgd with a horizon");
}

void check(const AntiPgd& family) {
  check_horizon(family.horizon);
}

void check(const Windowed& family) {
  check_coefficients("beta", family.beta);
  if (family.horizon) return check_horizon(*family.horizon);
  if (!(absolute_sum_after_first(family.beta) < 1)) {
    throw InvalidParameter("horizon", "none", "a finite horizon where the sum of |beta_t|, t >= 1, reaches 1");
  }
}

void check(const Strategy& family) {
  check_coefficients("c", family.c);
  check_horizon(family.horizon);
}

void check(const Dense&) {}

void check(const Tree& family) {
  if (family.height > tallest_tree) refuse("height", family.height, "0 ... 40");
}

void check(const Restarted&) {}

/// Noise can begin anew only where it ends, so a block needs a horizon.
const Correlation& checked_block(const Correlation& block) {
  if (!block.horizon()) throw InvalidParameter("horizon", "none", "a horizon, where the noise begins anew");
  if (std::holds_alternative<Tree>(block.family())) {
    throw InvalidParameter("restarts", "of a tree", "the tree's own flag, which restarts it");
  }
  if (std::holds_alternative<Restarted>(block.family())) throw InvalidParameter("restarts", "twice", "once");
  return block;
}

std::optional<StepCount> horizon_of(const Correlation::Family& family) {
  using Horizon = std::optional<StepCount>;
  return std::visit(
      Overload{[](const Independent&) { return Horizon{}; }, [](const NuFtrl& nu) { return nu.horizon; },
               [](const Rational&) { return Horizon{}; }, [](const DampedAntiPgd&) { return Horizon{}; },
               [](const AntiPgd& anti) { return Horizon{anti.horizon}; },
               [](const Windowed& window) { return window.horizon; },
               [](const Strategy& strategy) { return Horizon{strategy.horizon}; },
               // Without restarts a tree ends with its last leaf.
               [](const Tree& tree) {
                 if (tree.restarts) return Horizon{};
                 return Horizon{StepCount{std::uint64_t{1} << tree.height}};
               },
               [](const Dense& dense) { return Horizon{dense.horizon()}; },
               [](const Restarted&) { return Horizon{}; }},
      family);
}

}  // namespace

Restarted::Restarted(const Correlation& block)
    : block_(std::make_shared<const Correlation>(checked_block(block))), every_(*block.horizon()) {}

Correlation::Correlation(Family family, std::optional<StepCount> stop) : family_(std::move(family)), stop_(stop) {
  if (stop_) check_horizon(*stop_);
  // Every family has its own check(). A new one without it does not compile.
  std::visit([](const auto& member) { check(member); }, family_);
}

std::string Correlation::name() const {
  if (const auto* restarted = std::get_if<Restarted>(&family_)) return restarted->block().name();
  return std::visit(
      Overload{[](const Independent&) { return "independent"; }, [](const NuFtrl&) { return "nu"; },
               [](const Rational&) { return "rational"; }, [](const DampedAntiPgd&) { return "damped-anti-pgd"; },
               [](const AntiPgd&) { return "anti-pgd"; }, [](const Windowed&) { return "windowed"; },
               [](const Strategy&) { return "strategy"; },
               [](const Tree& tree) { return tree.estimator == Tree::Estimator::honaker ? "honaker" : "tree"; },
               [](const Dense&) { return "dense"; }, [](const Restarted&) { return "restarted"; }},
      family_);
}

// A `stop` that was given with the family counts as well; the earlier of the two ends the noise.
std::optional<StepCount> Correlation::horizon() const {
  const std::optional<StepCount> horizon = horizon_of(family_);
  if (!horizon || !stop_) return horizon ? horizon : stop_;
  return std::min(*horizon, *stop_);
}

bool Correlation::toeplitz() const noexcept {
  return !std::holds_alternative<Tree>(family_) && !std::holds_alternative<Dense>(family_) &&
         !std::holds_alternative<Restarted>(family_);
}

}  // namespace nustream::noise
