// Two computations about a descent of T steps. mean_excess() follows the variance in each direction from step to
// step; least_mean_excess() sums a bound over frequencies.
#include "nustream/privacy/mean_excess.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <vector>

namespace nustream::privacy {
namespace {

/// One direction of a descent without an end, at one frequency.
struct Response {
  double squared;  ///< |v|²
  double overlap;  ///< Re(v* v_T), v_T being the response whose k-th term counts (T − k)/T times
};

/// How the excess in one direction responds to noise of frequency ω. Term k of the response is η√(λ/2)·(1 − ηλ)^k
/// e^{−iωk}. With z = (1 − ηλ)e^{−iω}, Σ_k z^k = 1/(1 − z) and Σ_{k<T} (1 − k/T) z^k = 1/(1 − z) − z(1 − z^T)/(T(1 −
/// z)²).
Response response_at(double omega, double eigenvalue, double step_size, double steps) {
  const double kept = 1 - step_size * eigenvalue;
  const std::complex<double> z = std::polar(kept, -omega);
  // z^T is computed from its modulus and its angle. The angle ω·T is large, so it is reduced to one turn first.
  const std::complex<double> power =
      std::polar(std::pow(kept, steps), -std::fmod(omega * steps, 2 * std::numbers::pi));
  const std::complex<double> whole = 1.0 / (1.0 - z);
  const std::complex<double> part = whole - z * (1.0 - power) * whole * whole / steps;
  const double weight = eigenvalue / 2 * step_size * step_size;
  return {weight * std::norm(whole), weight * (std::conj(whole) * part).real()};
}

}  // namespace

double mean_excess(const noise::Correlation& correlation, const LocalProblem& problem, const Budget& budget,
                   StepCount steps) {
  const std::vector<double> beta = noise::noise_coefficients(correlation, static_cast<std::size_t>(steps.value()));
  const bool gaussian = problem.curvature == Curvature::gaussian_features;
  const double eta = problem.step_size.value();
  const std::size_t d = problem.eigenvalues.size();
  std::vector<double> response(d);  // response to the first step's seed noise at present
  std::vector<double> linear(d);    // variance of the iterate without what x xᵀ multiplies in
  std::vector<double> variance(d);
  double sum = 0;
  // Iteration t adds the response to seed noise that is t steps old. By then the iterate has met one such response
  // for each age up to t, and their squares add up to its variance.
  for (const double coefficient : beta) {
    double fed_back = 0;
    for (std::size_t j = 0; j < d; ++j) fed_back += problem.eigenvalues[j] * variance[j];
    for (std::size_t j = 0; j < d; ++j) {
      const double contraction = eta * problem.eigenvalues[j];
      const double kept = 1 - contraction;
      response[j] = kept * response[j] + coefficient;
      const double added = eta * eta * response[j] * response[j];
      // What this step's noise adds to the variance, its correlation with earlier noise included.
      const double driven = linear[j] + added - kept * kept * linear[j];
      linear[j] += added;
      // For Gaussian x, E x xᵀVx xᵀ − HVH = HVH + Tr(HV)H.
      const double multiplied =
          gaussian ? contraction * contraction * variance[j] + eta * contraction * fed_back : 0.0;
      variance[j] = kept * kept * variance[j] + multiplied + driven;
      sum += problem.eigenvalues[j] / 2 * variance[j];
    }
  }
  // Everything so far is for seed noise of variance 1.
  const double stddev = calibrated_stddev(correlation, budget).value();
  return sum / static_cast<double>(beta.size()) * stddev * stddev;
}

double least_mean_excess(const LocalProblem& problem, Rho rho, Displacement displacement, StepCount steps) {
  // At least 2T nodes, so that no two lags of the T × T matrix fall together.
  const std::size_t nodes = std::bit_ceil(std::max<std::size_t>(4 * static_cast<std::size_t>(steps.value()), 4096));
  double sum = 0;
  for (std::size_t node = 0; node <= nodes / 2; ++node) {
    const double omega = 2 * std::numbers::pi * static_cast<double>(node) / static_cast<double>(nodes);
    double squared = 0;
    double overlap = 0;
    for (const double eigenvalue : problem.eigenvalues) {
      const Response found =
          response_at(omega, eigenvalue, problem.step_size.value(), static_cast<double>(steps.value()));
      squared += found.squared;
      overlap += found.overlap;
    }
    // The frequencies ω and −ω have equal terms, as all responses are real series. So only half of the circle is
    // computed, and a node that has a mirror counts twice.
    const bool is_own_mirror = node == 0 || node == nodes / 2;
    sum += (is_own_mirror ? 1 : 2) * overlap / std::sqrt(squared);
  }
  // This is tr(VU)/T. The mean error times γ² is at least its square, because the largest squared column of B⁻¹ is no
  // less than their mean ‖B⁻¹‖²/T, and ‖VB‖ ‖B⁻¹‖ ≥ tr(VU).
  const double root = sum / static_cast<double>(nodes);
  return root * root * displacement.value() * displacement.value() / (2 * rho.value());
}

}  // namespace nustream::privacy
