// Zero-concentrated differential privacy of correlated Gaussian noise: spend, limit, calibration.
#pragma once

#include <span>

#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"
#include "nustream/privacy/participation.h"

namespace nustream::privacy {

/// ρ = sens²/(2σ²), rounded up (CDP+ Theorem 1.1).
[[nodiscard]] Rho rho(Sensitivity sensitivity, NoiseMultiplier sigma);
/// σ = sens/√(2ρ), rounded up. ρ > 0.
[[nodiscard]] NoiseMultiplier multiplier_for(Sensitivity sensitivity, Rho rho);
/// Two mechanisms on the same records: the sum, rounded up.
[[nodiscard]] Rho compose(std::span<const Rho> parts);
/// Mechanisms on disjoint records: the maximum.
[[nodiscard]] Rho parallel(std::span<const Rho> parts);

/// The spend of one mechanism as a function of public step counts. Caches what is costly, so that rho_after
/// is cheap enough for every release.
class Spend {
 public:
  Spend(noise::Correlation correlation, Participation participation, NoiseMultiplier sigma);

  /// ρ_t of the worst record after `steps` steps; 0 at 0; never decreasing.
  [[nodiscard]] Rho after(StepCount steps) const;
  /// ρ of a record that took part `age` steps ago, its own step included (age ≥ 1; k = 1 only).
  [[nodiscard]] Rho of_age(StepCount age) const;
  /// The supremum of after().
  [[nodiscard]] Rho limit() const;

  [[nodiscard]] const noise::Correlation& correlation() const noexcept { return correlation_; }
  [[nodiscard]] const Participation& participation() const noexcept { return participation_; }
  [[nodiscard]] NoiseMultiplier sigma() const noexcept { return sigma_; }

 private:
  noise::Correlation correlation_;
  Participation participation_;
  NoiseMultiplier sigma_;
};

}  // namespace nustream::privacy
