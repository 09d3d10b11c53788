// Computes what the worst record has spent after t steps, ρ_t = sens_t(k, b)²/(2σ²) (CDP+ Theorem 1.1). Each question
// is answered in three stages: the norm of this mechanism's own encoder gives a ρ; the least over the other bounds of
// the same mechanism is taken (or_); then the mechanisms beside this one are added (beside_).
#include <algorithm>
#include <cmath>
#include <utility>

#include "encoder_norm.h"
#include "nustream/base/error.h"
#include "nustream/privacy/zcdp.h"
#include "rounding.h"

namespace nustream::privacy {

Rho Spend::rho_of_square(double squared) const {
  // Every rounding is upwards, so that ρ is never understated.
  const double norm = rounded_up(std::sqrt(squared), 0);
  return rho(Sensitivity{length_ == 1 ? norm : rounded_up(length_ * norm, 0)}, sigma_);
}

/// The least of `own` and what the other bounds of this mechanism say, as each of them holds by itself. `of` asks
/// such a bound the question that `own` answers.
template <class Of>
Rho Spend::least(Rho own, const Of& of) const {
  for (const Spend& other : or_) own = std::min(own, of(other));
  return own;
}

Spend::Spend(noise::Correlation correlation, Participation participation, NoiseMultiplier sigma)
    : correlation_(std::move(correlation)), participation_(participation), sigma_(sigma) {}

Spend::~Spend() = default;
Spend::Spend(Spend&&) noexcept = default;
Spend& Spend::operator=(Spend&&) noexcept = default;

// The copy makes its own norm_ when it is first asked.
Spend::Spend(const Spend& other)
    : correlation_(other.correlation_),
      participation_(other.participation_),
      sigma_(other.sigma_),
      length_(other.length_),
      beside_(other.beside_),
      or_(other.or_) {}

Spend& Spend::operator=(const Spend& other) {
  if (this != &other) *this = Spend(other);
  return *this;
}

/// `own` and what the mechanisms beside this one say, composed. or_ bounds this mechanism alone, so its bounds are
/// compared before.
template <class Of>
Rho Spend::with_others(Rho own, const Of& of) const {
  if (beside_.empty()) return own;
  std::vector<Rho> parts{own};
  for (const Spend& other : beside_) parts.push_back(of(other));
  return compose(parts);
}

Spend Spend::beside(const Spend& other) const {
  // Both mechanisms see the same records at the same steps, so one (k, b) describes them both.
  if (other.participation_ != participation_) {
    throw InvalidParameter("participation", "another one", "that of the mechanism beside it");
  }
  Spend both = *this;
  both.beside_.push_back(other);
  return both;
}

// length_ and or_ hold for the participation that is replaced, so the new spend has neither.
Spend Spend::with(Participation participation) const {
  Spend other(correlation_, participation, sigma_);
  for (const Spend& beside : beside_) other.beside_.push_back(beside.with(participation));
  return other;
}

Spend Spend::of_length(noise::Correlation correlation, double length, NoiseMultiplier sigma) {
  // One participation at length 1 costs γ_t²/(2σ²); length_ scales the norm in rho_of_square().
  Spend spend(std::move(correlation), Participation::once(), sigma);
  spend.length_ = length;
  return spend;
}

Spend Spend::or_less(const Spend& other) const {
  // A bound of a mechanism with other noise says nothing about this one, and the least of the two could be too low.
  if (other.correlation_.horizon() != correlation_.horizon() || other.sigma_ != sigma_ || !other.beside_.empty()) {
    throw InvalidParameter("other bound", "of another mechanism", "the same correlation and sigma");
  }
  Spend lesser = *this;
  lesser.or_.push_back(other);
  return lesser;
}

Rho Spend::after(StepCount steps) const {
  // Before the first step nothing was said about anybody. The encoders are asked for one step at least.
  if (steps.value() == 0) return Rho{0};
  require_within_horizon(correlation_, steps);
  // The horizon is the longest question that after() allows, so the norm is built for it once.
  if (!norm_) norm_ = encoder_norm(correlation_, participation_, correlation_.horizon());
  const Rho own =
      least(rho_of_square(norm_->squared(steps.value())), [&](const Spend& other) { return other.after(steps); });
  return with_others(own, [&](const Spend& other) { return other.after(steps); });
}

Rho Spend::of_age(StepCount age) const {
  if (age.value() == 0) throw InvalidParameter("age", "0", "an integer >= 1");
  if (participation_.times() > 1 || length_ != 1 || !or_.empty()) {
    throw Unsupported("the spend by age is defined for records that take part once: ask for the running spend");
  }
  require_within_horizon(correlation_, age);
  if (!norm_) norm_ = encoder_norm(correlation_, participation_, correlation_.horizon());
  const Rho own = rho_of_square(norm_->squared_by_age(age.value()));
  return with_others(own, [&](const Spend& other) { return other.of_age(age); });
}

Rho Spend::limit() const {
  // A horizon of any of the mechanisms ends all of them, and ρ_t never falls, so its supremum is at the horizon.
  if (const auto steps = horizon()) return after(*steps);
  if (!norm_) norm_ = encoder_norm(correlation_, participation_, {});
  const auto limit_of = [](const Spend& other) { return other.limit(); };
  return with_others(least(rho_of_square(norm_->squared_limit()), limit_of), limit_of);
}

// Mechanisms beside each other take their steps together, so the first one that ends stops the others too.
std::optional<StepCount> Spend::horizon() const {
  std::optional<StepCount> smallest = correlation_.horizon();
  for (const Spend& other : beside_) {
    const std::optional<StepCount> theirs = other.horizon();
    if (theirs && (!smallest || *theirs < *smallest)) smallest = theirs;
  }
  return smallest;
}

}  // namespace nustream::privacy
