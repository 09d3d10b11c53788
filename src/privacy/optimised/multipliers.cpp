// The bound of CDP+ Theorem E.1 as a function of its multipliers. The constructor computes once what each multiplier
// adds to r, m and l at each frequency. An evaluation is then a sum over multipliers, and a quasi-Newton search over
// free variables finds the best ones.
#include "multipliers.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "quasi_newton.h"

namespace nustream::privacy::optimised {
namespace {

/// Multipliers as functions of free variables y. λ_0 = slack + Σ_{j≥1} λ_j with slack and all λ_j > 0, which is
/// the constraint of Theorem E.1. Each of them is its start value times y + √(1 + y²), which is positive for every
/// y.
struct Free {
  std::vector<double> multipliers;
  std::vector<double> slopes;  ///< derivatives of slack, λ_1, … by their y

  Free(double smallest, std::span<const double> y) : multipliers(y.size()), slopes(y.size()) {
    double sum = 0;
    for (std::size_t j = 0; j < y.size(); ++j) {
      const double start = (j == 0 ? 2 : 1e-3) * smallest;
      const double root = std::sqrt(1 + y[j] * y[j]);
      multipliers[j] = start * (y[j] > 0 ? y[j] + root : 1 / (root - y[j]));
      slopes[j] = multipliers[j] / root;
      if (j > 0) sum += multipliers[j];
    }
    multipliers[0] += sum;
  }
};

}  // namespace

std::vector<Frequency> frequencies(double width) {
  // With t = tan(ω/2), dω = 2t/(1 + t²) d ln t. The nodes lie on half of the circle and stand for both, so the factor
  // 1/2π of the whole is 1/π here.
  constexpr double ratio = 1.05;
  constexpr double step = 0.04879016416943200307;  // ln 1.05
  constexpr double margin = 1e9;                   // the integrand falls like 1/tan beyond it
  std::vector<Frequency> nodes;
  double t = width / margin;  // tan(ω/2)
  while (t < margin) {
    const double whole = 1 + t * t;
    nodes.push_back({1 / whole, t * t / whole, step * 2 * t / whole / std::numbers::pi});
    t *= ratio;
  }
  return nodes;
}

Multipliers::Multipliers(const StronglyConvex& problem, std::vector<Frequency> frequencies)
    : count_(problem.taps + 1),
      smallest_(1 / (problem.step_size.value() * problem.strong_convexity) /
                (problem.step_size.value() * problem.smoothness)),
      frequencies_(std::move(frequencies)) {
  const double mu = problem.step_size.value() * problem.strong_convexity;
  const double smooth = problem.step_size.value() * problem.smoothness;
  for (const Frequency& at : frequencies_) {
    const double sine = 2 * std::sqrt(at.cosine_squared * at.sine_squared);
    const double cosine = at.cosine_squared - at.sine_squared;
    const double h_real = 2 * at.sine_squared;  // h = h_real − i sine
    double turned_cosine = 1;                   // cos jω; turned_sine is sin jω
    double turned_sine = 0;
    // What λ_j adds to r, m and l (multipliers.h). One complex product turns e^{ijω} into that of j + 1.
    for (std::size_t j = 0; j < count_; ++j) {
      // Λ_0 = 1, Λ_j = −e^{−ijω}.
      const double real = j == 0 ? 1 : -turned_cosine;
      const double imaginary = turned_sine;
      const double off_real = (mu + smooth) * real;
      const double off_imaginary = (mu - smooth) * imaginary;
      by_.push_back({real, -off_real + 2 * real * h_real, -off_imaginary + 2 * real * sine,
                     2 * mu * smooth * real + 4 * real * h_real - 2 * (off_real * h_real + off_imaginary * sine)});
      const double next = turned_cosine * cosine - turned_sine * sine;
      turned_sine = turned_sine * cosine + turned_cosine * sine;
      turned_cosine = next;
    }
  }
}

Multipliers::Terms Multipliers::terms(std::size_t frequency, std::span<const double> multipliers) const {
  // l has a −1 that no multiplier changes.
  Terms sum{0, 0, 0, -1};
  const Terms* const by = by_.data() + frequency * count_;
  for (std::size_t j = 0; j < count_; ++j) {
    sum.r += by[j].r * multipliers[j];
    sum.m_real += by[j].m_real * multipliers[j];
    sum.m_imaginary += by[j].m_imaginary * multipliers[j];
    sum.l += by[j].l * multipliers[j];
  }
  return sum;
}

std::vector<double> Multipliers::psi(std::span<const double> multipliers) const {
  std::vector<double> values;
  for (std::size_t k = 0; k < frequencies_.size(); ++k) {
    const Terms at = terms(k, multipliers);
    values.push_back(-2 * at.r + (at.m_real * at.m_real + at.m_imaginary * at.m_imaginary) / at.l);
  }
  return values;
}

/// Minimises ∫ outer(ψ): `outer` gives value and derivative at a frequency.
template <class Outer>
std::vector<double> Multipliers::minimised(Outer outer) const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Objective objective = [&](std::span<const double> y, std::span<double> gradient) {
    const Free free(smallest_, y);
    std::vector<double> of_multipliers(count_, 0.0);
    double integral = 0;
    for (std::size_t k = 0; k < frequencies_.size(); ++k) {
      // The value of this frequency, and then its derivative by each multiplier.
      const Terms at = terms(k, free.multipliers);
      // Outside l > 0 the multipliers prove nothing. To the search such a place is infinitely high.
      if (!(at.l > 0)) return infinity;
      const double square = (at.m_real * at.m_real + at.m_imaginary * at.m_imaginary) / at.l;
      const double psi = square - 2 * at.r;
      if (!(psi > 0)) return infinity;
      const auto [value, slope] = outer(k, psi);
      integral += frequencies_[k].weight * value;
      const double factor = frequencies_[k].weight * slope;
      const Terms* const by = by_.data() + k * count_;
      for (std::size_t j = 0; j < count_; ++j) {
        const double of_m = 2 * (at.m_real * by[j].m_real + at.m_imaginary * by[j].m_imaginary);
        of_multipliers[j] += factor * ((of_m - square * by[j].l) / at.l - 2 * by[j].r);
      }
    }
    for (std::size_t j = 0; j < count_; ++j) {
      // λ_0 contains all the others and the slack, so its derivative enters that of every free variable.
      gradient[j] = free.slopes[j] * (of_multipliers[j] + (j == 0 ? 0 : of_multipliers[0]));
    }
    return std::isfinite(integral) ? integral : infinity;
  };
  constexpr Patience patience{1e-13, 4000};
  return Free(smallest_, minimise(objective, std::vector<double>(count_, 0.0), patience).x).multipliers;
}

std::vector<double> Multipliers::best_for(std::span<const double> squared_transfer) const {
  return minimised([&](std::size_t k, double psi) {
    return std::pair{squared_transfer[k] * psi, squared_transfer[k]};
  });
}

std::vector<double> Multipliers::best() const {
  return minimised([](std::size_t, double psi) {
    const double root = std::sqrt(psi);
    return std::pair{root, 1 / (2 * root)};
  });
}

}  // namespace nustream::privacy::optimised
