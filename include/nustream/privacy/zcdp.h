// Accounts for correlated Gaussian noise in zero-concentrated differential privacy: the spend after a number of
// steps, its limit, and the calibration of σ.
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
/// σ = sens/√(2ρ), rounded up far enough that rho(sensitivity, multiplier_for(sensitivity, ρ)) ≤ ρ. Throws
/// InvalidParameter for ρ = 0.
[[nodiscard]] NoiseMultiplier multiplier_for(Sensitivity sensitivity, Rho rho);
/// ρ of several mechanisms on the same records: the sum of the parts, rounded up.
[[nodiscard]] Rho compose(std::span<const Rho> parts);
/// ρ of several mechanisms on disjoint records: the largest of the parts.
[[nodiscard]] Rho parallel(std::span<const Rho> parts);

class EncoderNorm;

/// The spend of one mechanism, or of several on the same records, as a function of public step counts.
///
/// Costly intermediate results are cached, so that after() at rising step counts is cheap enough for every
/// release: it is O(m²) for a rational correlation and a look-up for numeric ones. Const functions change that
/// cache, so one object belongs to one thread; a copy has a cache of its own. Every bit of an answer depends on the
/// arguments alone, and not on what was asked before.
class Spend {
 public:
  Spend(noise::Correlation correlation, Participation participation, NoiseMultiplier sigma);
  /// The spend of this mechanism and `other` together, step by step on the same records: their ρ add (CDP+ section
  /// 1.1; Bun and Steinke 2016, Lemma 1.7). Throws InvalidParameter where their participations differ.
  [[nodiscard]] Spend beside(const Spend& other) const;
  /// The spend of the same mechanisms where units take part as `participation` says instead. Bounds given by
  /// or_less() and of_length() are dropped.
  [[nodiscard]] Spend with(Participation participation) const;
  /// The spend of a unit that may take part in any pattern of steps, with contributions whose norms add up to at
  /// most `length` times the bound of one contribution. By the triangle inequality that is at most what the whole
  /// length costs in a single step of the longest column, length²·γ_t²/(2σ²).
  [[nodiscard]] static Spend of_length(noise::Correlation correlation, double length, NoiseMultiplier sigma);
  /// The lesser of this spend and `other`, where `other` is another valid bound of the same mechanism. The lesser
  /// is taken before the spends of mechanisms beside this one are added. Throws InvalidParameter where the
  /// horizons of the correlations or their σ differ, or where `other` has mechanisms beside it.
  [[nodiscard]] Spend or_less(const Spend& other) const;
  ~Spend();
  Spend(const Spend& other);
  Spend& operator=(const Spend& other);
  Spend(Spend&&) noexcept;
  Spend& operator=(Spend&&) noexcept;

  /// ρ_t of the worst record after `steps` steps: 0 at 0 steps, and never decreasing. With several participations
  /// it follows from the sensitivity over those within t steps, never from γ_t. Throws Unsupported beyond the
  /// correlation's horizon.
  [[nodiscard]] Rho after(StepCount steps) const;
  /// ρ of a record that took part `age` ≥ 1 steps ago, its own step included: γ_age²/(2σ²). Where C is not
  /// Toeplitz it is the largest over all places that the record's step may have. Throws InvalidParameter for age
  /// 0, and Unsupported where records take part several times, since the age of such a record does not tell its
  /// spend.
  [[nodiscard]] Rho of_age(StepCount age) const;
  /// The supremum of after(): its value at the horizon where there is one. Throws Unsupported where it is infinite
  /// or no bound is known.
  [[nodiscard]] Rho limit() const;
  /// The smallest horizon of all these mechanisms; empty where any number of steps may be taken.
  [[nodiscard]] std::optional<StepCount> horizon() const;
  /// The spend of the first mechanism alone, which the accessors below describe.
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
  std::vector<Spend> or_;                      // other bounds of the same mechanism, of which the least counts
  mutable std::unique_ptr<EncoderNorm> norm_;  // made when the first question is asked
};

}  // namespace nustream::privacy
