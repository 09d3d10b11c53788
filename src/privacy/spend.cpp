#include <cmath>
#include <utility>

#include "encoder_norm.h"
#include "horizon.h"
#include "nustream/base/error.h"
#include "nustream/privacy/zcdp.h"
#include "rounding.h"

namespace nustream::privacy {
namespace {

Rho rho_of_square(double squared_sensitivity, NoiseMultiplier sigma) {
  return rho(Sensitivity{rounded_up(std::sqrt(squared_sensitivity), 0)}, sigma);
}

}  // namespace

Spend::Spend(noise::Correlation correlation, Participation participation, NoiseMultiplier sigma)
    : correlation_(std::move(correlation)), participation_(participation), sigma_(sigma) {}

Spend::~Spend() = default;
Spend::Spend(Spend&&) noexcept = default;
Spend& Spend::operator=(Spend&&) noexcept = default;

Spend::Spend(const Spend& other) : Spend(other.correlation_, other.participation_, other.sigma_) {}

Spend& Spend::operator=(const Spend& other) {
  if (this != &other) *this = Spend(other);
  return *this;
}

Rho Spend::after(StepCount steps) const {
  if (steps.value() == 0) return Rho{0};
  require_within_horizon(correlation_, steps);
  if (!norm_) norm_ = encoder_norm(correlation_, participation_, correlation_.horizon());
  return rho_of_square(norm_->squared(steps.value()), sigma_);
}

Rho Spend::of_age(StepCount age) const {
  if (age.value() == 0) throw InvalidParameter("age", "0", "an integer >= 1");
  if (participation_.times() > 1) {
    throw Unsupported("the spend by age is defined for records that take part once: ask for the running spend");
  }
  return after(age);
}

Rho Spend::limit() const {
  if (const auto horizon = correlation_.horizon()) return after(*horizon);
  if (!norm_) norm_ = encoder_norm(correlation_, participation_, {});
  return rho_of_square(norm_->squared_limit(), sigma_);
}

}  // namespace nustream::privacy
