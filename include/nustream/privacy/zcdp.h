// Zero-concentrated differential privacy of correlated Gaussian noise: spend, limit, calibration.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/noise/correlation.h"
#include "nustream/privacy/participation.h"

namespace nustream::privacy {

/// ρ = sens²/(2σ²), rounded up by a few units in the last place (CDP+ Theorem 1.1).
[[nodiscard]] Rho rho(Sensitivity sensitivity, NoiseMultiplier sigma);
/// σ = sens/√(2ρ), rounded up so far that rho(sensitivity, multiplier_for(sensitivity, ρ)) ≤ ρ. Throws
/// InvalidParameter for ρ = 0.
[[nodiscard]] NoiseMultiplier multiplier_for(Sensitivity sensitivity, Rho rho);
/// Two mechanisms on the same records: the sum, rounded up.
[[nodiscard]] Rho compose(std::span<const Rho> parts);
/// Mechanisms on disjoint records: the maximum.
[[nodiscard]] Rho parallel(std::span<const Rho> parts);

class EncoderNorm;

/// The spend of one mechanism, or of several on the same records, as a function of public step counts. What is costly
/// is cached, so that after() at successive, rising step counts is cheap enough for every release: O(m²) for a
/// rational correlation, a look-up for numeric ones. For that, const functions change the cache: one object is for
/// one thread; a copy has a cache of its own. The answers, to the bit, depend on the question alone and not on what
/// was asked before.
class Spend {
 public:
  Spend(noise::Correlation correlation, Participation participation, NoiseMultiplier sigma);
  /// Of this mechanism and `other` beside it, step by step on the same records: ρ adds (CDP+ section 1.1; Bun and
  /// Steinke 2016, Lemma 1.7). Throws InvalidParameter where their participations differ.
  [[nodiscard]] Spend beside(const Spend& other) const;
  /// The same mechanisms over units that take part otherwise.
  [[nodiscard]] Spend with(Participation participation) const;
  /// Of a unit that may take part in any pattern of steps, with contributions whose norms add up to at most `length`
  /// times the bound of one: what all of it in the longest step costs, length²·γ_t²/(2σ²), by the triangle
  /// inequality.
  [[nodiscard]] static Spend of_length(noise::Correlation correlation, double length, NoiseMultiplier sigma);
  /// Of the same mechanism, of which `other` is another bound: the lesser of the two, before others beside them are
  /// added. Throws InvalidParameter where their correlations' horizons or σ differ.
  [[nodiscard]] Spend or_less(const Spend& other) const;
  ~Spend();
  Spend(const Spend& other);
  Spend& operator=(const Spend& other);
  Spend(Spend&&) noexcept;
  Spend& operator=(Spend&&) noexcept;

  /// ρ_t of the worst record after `steps` steps: 0 at 0, never decreasing in `steps`. With several
  /// participations it is the sensitivity over those within t steps, never γ_t. Throws Unsupported beyond the
  /// correlation's horizon.
  [[nodiscard]] Rho after(StepCount steps) const;
  /// ρ of a record that took part `age` steps ago, its own step included (age ≥ 1): γ_age²/(2σ²), and where C is not
  /// Toeplitz the largest over all places of its step. Throws Unsupported where records take part several times: such
  /// a record's age does not tell its spend.
  [[nodiscard]] Rho of_age(StepCount age) const;
  /// The supremum of after(): at the horizon where there is one. Throws Unsupported where it is infinite or no
  /// bound is at hand.
  [[nodiscard]] Rho limit() const;
  /// The smallest horizon of all mechanisms; empty where any number of steps may be taken.
  [[nodiscard]] std::optional<StepCount> horizon() const;
  /// The same spend of the first mechanism alone, which the accessors below describe.
  [[nodiscard]] Spend alone() const {
    Spend first = *this;
    first.beside_.clear();
    return first;
  }

  [[nodiscard]] const noise::Correlation& correlation() const noexcept { return correlation_; }
  [[nodiscard]] const Participation& participation() const noexcept { return participation_; }
  [[nodiscard]] NoiseMultiplier sigma() const noexcept { return sigma_; }

 private:
  template <class Of>
  [[nodiscard]] Rho least(Rho own, const Of& of) const;
  [[nodiscard]] Rho rho_of_square(double squared) const;
  template <class Of>
  [[nodiscard]] Rho with_others(Rho own, const Of& of) const;

  noise::Correlation correlation_;
  Participation participation_;
  NoiseMultiplier sigma_;
  double length_ = 1;
  std::vector<Spend> beside_;
  std::vector<Spend> or_;                      // other bounds of the same mechanism
  mutable std::unique_ptr<EncoderNorm> norm_;  // made at the first question
};

}  // namespace nustream::privacy
