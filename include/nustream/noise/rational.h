// The rational ("BLT") correlation: β(x) = Π (1 − q_i x)/(1 − p_i x). It has a few exponentials in place of ν-FTRL's
// mixture of infinitely many, and its own sensitivity has an exact closed form.
#pragma once

#include <cstddef>
#include <vector>

#include "nustream/base/units.h"

namespace nustream::noise {

/// β_0 = 1 and β_t = −Σ_i a_i p_i^{t−1}; c_0 = 1 and c_t = Σ_i b_i q_i^{t−1}, for t ≥ 1. All a_i, b_i > 0 and 0 < q_i
/// < 1; the p_i and the q_i are each in falling order. c is positive, and it is decreasing and log-convex from c_1
/// on. (Σ b_i/q_i is not 1, so c is no single sum of exponentials from t = 0 on.)
class Rational {
 public:
  /// The Zolotarev closed form for ν-FTRL with damping ν > 0 and `poles` poles. With 0 poles it takes the smallest
  /// number whose excess over exact ν is at most 2.5e-4: 6 at ν = 1e-4, 5 at 1e-3, 4 at 1e-2. Throws InvalidParameter
  /// below ν = 1e-10 or above 64 poles.
  ///
  /// Source: elliptic (Zolotarev) nodes of the rational approximation of the square root on [2ν, 1], or on [ν, 1]
  /// from ν = ¼ on (Hale, Higham and Trefethen 2008, method 3).
  static Rational nu_ftrl(Damping nu, std::size_t poles = 0);

  /// The correlation with the user's decay rates q_i in (0, 1), which must be distinct, and weights b_i > 0. The
  /// 1/p_i are the zeros of 1 + Σ b_i x/(1 − q_i x): q_{i+1} < p_i < q_i, and the lowest p lies in (−1, q_m). Throws
  /// InvalidParameter for other q and b, and also where Σ b_i/(1 + q_i) ≥ 1, which would put the lowest p beyond −1
  /// and let the noise grow for ever.
  static Rational from_poles(std::vector<double> q, std::vector<double> b);

  [[nodiscard]] std::size_t poles() const noexcept { return q_.size(); }
  [[nodiscard]] const std::vector<double>& p() const noexcept { return p_; }
  [[nodiscard]] const std::vector<double>& a() const noexcept { return a_; }
  [[nodiscard]] const std::vector<double>& q() const noexcept { return q_; }
  [[nodiscard]] const std::vector<double>& b() const noexcept { return b_; }

  /// γ_T² = 1 + Σ_ij b_i b_j (1 − (q_i q_j)^{T−1})/(1 − q_i q_j), exact at any T ≥ 1. O(m²). Throws InvalidParameter
  /// for T = 0.
  [[nodiscard]] double squared_column_norm(StepCount steps) const;
  /// γ_∞², the limit of γ_T².
  [[nodiscard]] double squared_column_norm_limit() const;
  /// Σ_{t<T} β_t²: the squared ratio of the standard deviations of z and w at step T − 1. O(m²).
  [[nodiscard]] double squared_noise_norm(StepCount steps) const;
  /// Σ_t β_t², the limit of that ratio.
  [[nodiscard]] double squared_noise_norm_limit() const;

 private:
  Rational(std::vector<double> p, std::vector<double> a, std::vector<double> q, std::vector<double> b);
  std::vector<double> p_, a_, q_, b_;
};

/// The relative amount by which γ_∞² times the stationary error exceeds that of exact ν-FTRL, for mean estimation
/// with step size η = ν > 0. A value of 0.01 means that the private error is 1% larger at the same ρ. It is exact up
/// to rounding of about 1e-15/ν.
///
/// Source: CDP+ Theorem 2.1.
[[nodiscard]] double mean_estimation_excess(const Rational& rational, Damping nu);

}  // namespace nustream::noise
