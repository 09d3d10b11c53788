// The stationary variance of the iterate, and from it the excess of a plan. Each family goes one of three ways: an
// integral over frequencies where |B(ω)|² has a closed form, a sum of squares where β is a list of numbers, and a
// triangular system where C is a matrix.
#include "nustream/privacy/stationary.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <sstream>
#include <variant>

#include "../noise/overload.h"
#include "nustream/base/error.h"
#include "transfer.h"

namespace nustream::privacy {
namespace {

// Integrals over the frequency ω have features as narrow as ν. The substitution t = tan(ω/2) = e^u, dω = sech(u)
// du makes them integrals over the whole line, whose features all have width 1 and whose singularities all lie at
// distance π/2 from the line. The trapezoidal rule with step h then has relative error e^{−π²/h}, below 1e-17 for
// this step.
constexpr double node_distance = 0.25;
/// How far the nodes go beyond the outermost feature, where the integrand falls like e^{−|u|}: e^{−40} is
/// negligible.
constexpr double margin = 40;

Frequency frequency_at(double u) {
  const double t = std::exp(-2 * std::abs(u));
  const double small = t / (1 + t);
  const double large = 1 / (1 + t);
  return {u > 0 ? small : large, u > 0 ? large : small, node_distance / std::numbers::pi / std::cosh(u)};
}

/// The width of the narrowest feature of |B(ω)|² at ω = 0.
double narrowest(const noise::Rational& rational) {
  double width = 1;
  for (const double pole : rational.q()) width = std::min(width, 1 - pole);
  for (const double pole : rational.p()) width = std::min(width, 1 - pole);
  return width;
}

/// (1/2π) ∫ transfer(ω) / |1 − ηλ − e^{iω}|² dω for every contraction ηλ. `width` is that of the narrowest feature of
/// `transfer`.
template <class Transfer>
std::vector<double> integrals(const Transfer& transfer, double width, const std::vector<double>& contractions) {
  double lowest = width;
  double highest = 1;
  for (const double contraction : contractions) {
    lowest = std::min({lowest, contraction, 2 - contraction});
    highest = std::min({highest, contraction, 2 - contraction});
  }
  std::vector<double> sums(contractions.size(), 0.0);
  const double first = std::log(lowest) - margin;
  const int nodes = static_cast<int>((margin - std::log(highest) - first) / node_distance) + 1;
  for (int node = 0; node < nodes; ++node) {
    const Frequency at = frequency_at(first + node * node_distance);
    const double weighted = at.weight * transfer(at);
    for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += weighted / squared_factor(contractions[j], at);
  }
  return sums;
}

/// Σ_t h_t² with h = β ∗ (1, r, r², …), r = 1 − ηλ. By Parseval this is the same integral, for a β of finitely
/// many terms. If it `goes_on`, the iterate forgets the last coefficient over all later steps; otherwise the sum
/// ends at the horizon.
std::vector<double> energies(const std::vector<double>& beta, const std::vector<double>& contractions, bool goes_on) {
  std::vector<double> sums;
  for (const double contraction : contractions) {
    const double kept = 1 - contraction;
    double response = 0;
    double sum = 0;
    for (const double coefficient : beta) {
      response = kept * response + coefficient;
      sum += response * response;
    }
    const double decay = contraction * (2 - contraction);  // 1 − r²
    // Behind the last coefficient the response shrinks by r from step to step: a geometric sum.
    if (goes_on) sum += response * response * (kept * kept) / decay;
    sums.push_back(sum);
  }
  return sums;
}

/// Σ_s (Σ_t r^{T−1−t} B_ts)² at the last step T − 1, with B = C⁻¹. It is the squared norm of the x that solves Cᵀx
/// = (r^{T−1−t})_t, so B itself need not be computed.
std::vector<double> last_energies(const noise::Dense& encoder, StepCount steps,
                                  const std::vector<double>& contractions) {
  std::vector<double> sums;
  for (const double contraction : contractions) {
    std::vector<double> x(static_cast<std::size_t>(steps.value()));
    double power = 1;
    for (std::size_t t = x.size(); t-- > 0; power *= 1 - contraction) x[t] = power;
    double sum = 0;
    for (std::size_t t = x.size(); t-- > 0;) {
      const std::span<const double> row = encoder.row(t);
      x[t] /= row.back();
      for (std::size_t i = 0; i + 1 < row.size(); ++i) x[t + 1 - row.size() + i] -= row[i] * x[t];
      sum += x[t] * x[t];
    }
    sums.push_back(sum);
  }
  return sums;
}

/// ηλ_j, each checked to lie in (0, most). Beyond 2 the iterate itself diverges; beyond 1 the formula for Gaussian
/// features does not hold.
std::vector<double> contractions_of(StepSize step_size, std::span<const double> eigenvalues, double most) {
  std::vector<double> contractions;
  for (const double eigenvalue : eigenvalues) {
    const double contraction = step_size.value() * eigenvalue;
    const bool stable = contraction > 0 && contraction < most;
    if (!stable) {
      std::ostringstream text;
      text << contraction;
      throw InvalidParameter("step size times eigenvalue", text.str(),
                             most == 1 ? "0 < eta lambda < 1" : "0 < eta lambda < 2");
    }
    contractions.push_back(contraction);
  }
  return contractions;
}

std::vector<double> frequency_integrals(const noise::Correlation& correlation,
                                        const std::vector<double>& contractions) {
  return std::visit(
      noise::Overload{
          [&](const noise::Independent&) { return integrals([](const Frequency&) { return 1.0; }, 1, contractions); },
          [&](const noise::NuFtrl& nu) {
            const double damping = nu.nu.value();
            return integrals([=](const Frequency& at) { return std::sqrt(squared_factor(damping, at)); },
                             damping > 0 ? damping : 1, contractions);
          },
          [&](const noise::Rational& rational) {
            return integrals([&](const Frequency& at) { return squared_transfer(rational, at); }, narrowest(rational),
                             contractions);
          },
          [&](const noise::DampedAntiPgd& damped) {
            const double damping = damped.nu.value();
            return integrals([=](const Frequency& at) { return squared_factor(damping, at); }, damping, contractions);
          },
          [&](const noise::AntiPgd&) {
            return integrals([](const Frequency& at) { return squared_factor(0, at); }, 1, contractions);
          },
          [&](const noise::Windowed& window) { return energies(window.beta, contractions, true); },
          [&](const noise::Strategy&) {
            const auto horizon = static_cast<std::size_t>(correlation.horizon()->value());
            return energies(noise::noise_coefficients(correlation, horizon), contractions, false);
          },
          [&](const noise::Dense& dense) { return last_energies(dense, *correlation.horizon(), contractions); },
          [](const noise::Tree&) -> std::vector<double> {
            throw Unsupported("a tree is not Toeplitz: it has no stationary error to predict");
          },
          [](const noise::Restarted&) -> std::vector<double> {
            throw Unsupported("noise that is begun anew is not Toeplitz: it has no stationary error to predict");
          },
      },
      correlation.family());
}

/// Σ_j (λ_j/2) P_j: F has the factor ½.
double excess_with_fixed_curvature(const LocalProblem& problem, const std::vector<double>& variances) {
  double sum = 0;
  for (std::size_t j = 0; j < variances.size(); ++j) sum += problem.eigenvalues[j] / 2 * variances[j];
  return sum;
}

/// The exact excess where x xᵀ of Gaussian features multiplies the error. The variances P_j alone, one integral of
/// CDP+ appendix B for each eigenvalue, leave this multiplied noise out.
double excess_with_gaussian_features(const LocalProblem& problem, const std::vector<double>& variances) {
  double driven = 0;
  double fed_back = 0;
  for (std::size_t j = 0; j < variances.size(); ++j) {
    const double eigenvalue = problem.eigenvalues[j];
    const double contraction = problem.step_size.value() * eigenvalue;
    driven += (2 - contraction) * eigenvalue * variances[j] / (2 * (1 - contraction));
    fed_back += contraction / (2 * (1 - contraction));
  }
  // From fed_back = 1 on, a step multiplies more noise in than it takes away, and the second moment has no limit.
  return fed_back < 1 ? driven / (1 - fed_back) / 2 : std::numeric_limits<double>::infinity();
}

}  // namespace

std::vector<double> stationary_variances(const noise::Correlation& correlation, StepSize step_size,
                                         std::span<const double> eigenvalues) {
  std::vector<double> variances = frequency_integrals(correlation, contractions_of(step_size, eigenvalues, 2));
  for (double& variance : variances) variance *= step_size.value() * step_size.value();
  return variances;
}

double stationary_excess(const noise::Correlation& correlation, const LocalProblem& problem, NoiseStddev noise) {
  const bool gaussian = problem.curvature == Curvature::gaussian_features;
  if (gaussian) (void)contractions_of(problem.step_size, problem.eigenvalues, 1);
  const std::vector<double> variances = stationary_variances(correlation, problem.step_size, problem.eigenvalues);
  const double excess =
      gaussian ? excess_with_gaussian_features(problem, variances) : excess_with_fixed_curvature(problem, variances);
  return excess * noise.value() * noise.value();
}

}  // namespace nustream::privacy
