// Turns a budget into one multiplier for each noised block, and multipliers into spend. All blocks are one Gaussian
// mechanism under one encoder, so each block's ρ is computed at its own Δ, and joint() says what they cost together.
// Costs are rounded up and what σ may spend is rounded down, so that no rounding error hides a cost.
#include "nustream/moments/budget.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "nustream/base/error.h"
#include "nustream/users/sensitivity.h"
#include "privacy/rounding.h"

namespace nustream::moments {
namespace {

void check_count(const char* name, std::size_t count, const Design& design) {
  const std::size_t blocks = noised_blocks(design).size();
  if (count != blocks)
    throw InvalidParameter(name, std::to_string(count),
                           "one for each of " + std::to_string(blocks) + " noised blocks");
}

/// ρ of the moments under replace-one, from ρ_H at Δ = √2 and ρ_g at Δ = 2, as joint() says. Beyond ρ_g = 4ρ_H the
/// worst pair of records has parallel inputs, so H does not move at all.
double replaced(double second, double responses) {
  if (responses > 4 * second) return responses;
  return second + responses / 2 + (second > 0 ? responses * responses / (16 * second) : 0);
}

/// ρ of each block if the encoder's sensitivity were 1.
std::vector<Rho> unit_parts(const std::vector<NoiseMultiplier>& sigmas) {
  std::vector<Rho> parts;
  for (const NoiseMultiplier& sigma : sigmas) parts.push_back(privacy::rho(Sensitivity{1}, sigma));
  return parts;
}

/// A relative bound for a handful of operations, each of which rounds by at most one unit.
constexpr double slack = 32 * privacy::unit_roundoff;

}  // namespace

Displacement displacement(const Design& design, Block block) {
  if (!is_noised(design, block)) throw InvalidParameter("block", std::string(name(block)), "one that is private");
  if (design.neighbours.adjacency == privacy::Adjacency::zero_out) return Displacement{1};
  if (design.neighbours.of_user) return Displacement{2};
  if (block == Block::eigenvalue) return Displacement{1};
  const bool is_outer_product = block == Block::second || block == Block::spread;
  if (!is_outer_product) return Displacement{2};
  // The spread of one response is one number in [0, 1]. In a sandwich of public rows xxᵀ is public, and only its
  // factor r² is private, which is such a number too.
  const bool of_one_response = design.spread == Spread::residuals && design.shape.endogenous == 0;
  const bool public_rows = design.spread == Spread::sandwich && design.neighbours.target_only;
  const bool is_number = block == Block::spread && (of_one_response || public_rows);
  return Displacement{is_number ? 1 : std::numbers::sqrt2};
}

Rho joint(const Design& design, const std::vector<Rho>& parts) {
  check_count("parts", parts.size(), design);
  const std::vector<Block> noised = noised_blocks(design);
  double second = 0;
  double responses = 0;
  double spread = 0;
  double eigenvalue = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    double& of = noised[i] == Block::second       ? second
                 : noised[i] == Block::spread     ? spread
                 : noised[i] == Block::eigenvalue ? eigenvalue
                                                  : responses;
    of += parts[i].value();
  }
  const bool replace = design.neighbours.adjacency == privacy::Adjacency::replace_one && !design.neighbours.of_user;
  const double moments = replace ? replaced(second, responses) : second + responses;
  return Rho{privacy::rounded_up(moments + spread + eigenvalue, slack)};
}

Sensitivity sensitivity_limit(const Mechanism& mechanism) {
  if (mechanism.users) {
    return users::sensitivity_limit(mechanism.correlation, *mechanism.users);
  }
  return sensitivity_limit(mechanism.correlation, mechanism.participation);
}

std::vector<NoiseMultiplier> calibrate(const Mechanism& mechanism, const Shares& shares, Rho budget) {
  check_count("shares", shares.size(), mechanism.design);
  std::vector<Rho> parts;
  for (const double share : shares) {
    if (!(std::isfinite(share) && share > 0))
      throw InvalidParameter("share", std::to_string(share), "a finite number > 0");
    // Shares stand in for the ρ of the parts: only their proportions matter here.
    parts.emplace_back(share);
  }
  // joint() of c times the parts is c times joint() of the parts. So the shares times budget/whole cost the budget.
  const double whole = joint(mechanism.design, parts).value();
  const Sensitivity sensitivity = sensitivity_limit(mechanism);
  std::vector<NoiseMultiplier> sigmas;
  for (const double share : shares) {
    const Rho own{privacy::rounded_down(budget.value() / whole * share, 2 * slack)};
    sigmas.push_back(privacy::multiplier_for(sensitivity, own));
  }
  return sigmas;
}

NoiseMultiplier joint_multiplier(const Design& design, const std::vector<NoiseMultiplier>& sigmas) {
  check_count("sigmas", sigmas.size(), design);
  return NoiseMultiplier{privacy::rounded_down(std::sqrt(0.5 / joint(design, unit_parts(sigmas)).value()), slack)};
}

Spend::Spend(const Mechanism& mechanism, const std::vector<NoiseMultiplier>& sigmas)
    : layers_(layers(mechanism.participation)),
      at_unit_sensitivity_((check_count("sigmas", sigmas.size(), mechanism.design),
                            // The count is checked first, so that an error names the multipliers.
                            joint(mechanism.design, unit_parts(sigmas)).value())),
      fewer_(mechanism.correlation, layers_.of_fewer, NoiseMultiplier{1}) {
  if (mechanism.users) throw InvalidParameter("users", "given", "none: their spend is users::spend()");
  if (layers_.more > 0) more_.emplace(mechanism.correlation, layers_.of_more, NoiseMultiplier{1});
}

/// The layers' lengths add up: sens² = (Σ_layers √(2ρ_layer))² at σ = 1.
Rho Spend::of_layers(Rho fewer, std::optional<Rho> more) const {
  double sum = static_cast<double>(layers_.fewer) * std::sqrt(2 * fewer.value());
  if (more) sum += static_cast<double>(layers_.more) * std::sqrt(2 * more->value());
  return Rho{privacy::rounded_up(sum * sum * at_unit_sensitivity_, slack)};
}

Rho Spend::after(StepCount steps) const {
  return of_layers(fewer_.after(steps), more_ ? std::optional(more_->after(steps)) : std::nullopt);
}

Rho Spend::of_age(StepCount age) const {
  if (layers_.fewer + layers_.more > 1) {
    throw Unsupported("the spend by age is defined for records that take part once: ask for the running spend");
  }
  // A record that takes part once is one layer.
  return of_layers(fewer_.of_age(age), std::nullopt);
}

Rho Spend::limit() const {
  return of_layers(fewer_.limit(), more_ ? std::optional(more_->limit()) : std::nullopt);
}

}  // namespace nustream::moments
