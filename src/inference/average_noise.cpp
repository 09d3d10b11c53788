// The noise in an average, in one of two ways. Where the correlation has a recurrence, states, iterate and faded sum
// are one linear system, whose covariance is carried forward by doubling. Otherwise the coefficients are summed up.
#include "nustream/inference/average_noise.h"

#include <Eigen/Dense>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "noise/recurrence.h"
#include "nustream/base/error.h"

namespace nustream::inference {
namespace {

using Real = long double;  // the poles' contributions cancel to a small remainder
using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;

/// The linear system x_{t+1} = M x_t + b w_t with x = (s_1 … s_m, e, Σ decay^{…} e).
struct System {
  Matrix step;
  Vector input;
};

/// The descent and its faded sum as one linear system with the states of the noise.
System system_of(const noise::Recurrence& noise, const AveragedDescent& descent) {
  const auto m = static_cast<Eigen::Index>(noise.p.size());
  const Real eta = descent.step_size;
  System system{Matrix::Zero(m + 2, m + 2), Vector::Zero(m + 2)};
  for (Eigen::Index i = 0; i < m; ++i) {
    system.step(i, i) = noise.p[static_cast<std::size_t>(i)];
    system.input(i) = 1;
    // z = w − Σ a_i s_i and e ← (1 − ηλ)e − ηz.
    system.step(m, i) = eta * noise.a[static_cast<std::size_t>(i)];
  }
  system.step(m, m) = 1 - eta * static_cast<Real>(descent.curvature);
  system.input(m) = -eta;
  // The new e enters the sum, in which all earlier ones have faded once more.
  system.step.row(m + 1) = system.step.row(m);
  system.step(m + 1, m + 1) = static_cast<Real>(descent.decay);
  system.input(m + 1) = system.input(m);
  return system;
}

/// M^count and Σ_{k < count} M^k b bᵀ M^kᵀ, by doubling.
std::pair<Matrix, Matrix> propagate(const System& system, std::uint64_t count) {
  const Eigen::Index size = system.step.rows();
  Matrix power = Matrix::Identity(size, size);
  Matrix covariance = Matrix::Zero(size, size);
  Matrix square = system.step;
  Matrix spread = system.input * system.input.transpose();
  for (; count > 0; count >>= 1U) {
    if ((count & 1U) != 0) {
      // A block of 2^k steps follows what was there: the old covariance goes through it, and its own noise comes on
      // top.
      covariance = square * covariance * square.transpose() + spread;
      power = square * power;
    }
    spread = square * spread * square.transpose() + spread;
    square = square * square;
  }
  return {power, covariance};
}

/// The weights' sum 1 + decay + decay² + …, with as many terms as there are iterates in the mean.
double total_weight(const AveragedDescent& descent) {
  const auto count = static_cast<double>(descent.steps - descent.from);
  if (descent.decay == 1) return count;
  // 1 − decay^count would lose its digits where the decay is near 1.
  return -std::expm1(count * std::log(descent.decay)) / (1 - descent.decay);
}

/// The variance of the faded sum after the last step, over the square of its weights.
double by_recurrence(const noise::Recurrence& noise, const AveragedDescent& descent) {
  const System system = system_of(noise, descent);
  // The first steps move states and iterate as usual, while nothing is summed up yet.
  Matrix before = propagate(system, descent.from).second;
  const Eigen::Index sum = before.rows() - 1;
  before.row(sum).setZero();  // the sum begins here
  before.col(sum).setZero();
  const std::uint64_t count = descent.steps - descent.from;
  const auto [power, spread] = propagate(system, count);
  const Real variance = (power * before * power.transpose() + spread)(sum, sum);
  const Real weight = total_weight(descent);
  return static_cast<double>(variance / (weight * weight));
}

/// The variance from the coefficients. With h = B(x)/(1 − (1 − ηλ)x) and its faded prefix sums P = h/(1 − decay·x),
/// w_s enters the mean with the factor −η(P_{T−1−s} − decay^{T − from} P_{from−1−s}) over the total weight.
double by_coefficients(const noise::Correlation& correlation, const AveragedDescent& descent) {
  // The coefficients and their sums take 32 MiB each at this length.
  constexpr std::uint64_t most = std::uint64_t{1} << 22U;
  if (descent.steps > most) {
    throw Unsupported("the noise of an average over more than " + std::to_string(most) +
                      " steps: use a rational correlation");
  }
  const std::vector<double> beta = noise::noise_coefficients(correlation, static_cast<std::size_t>(descent.steps));
  std::vector<double> prefix(beta.size());
  double h = 0;
  double sum = 0;
  for (std::size_t t = 0; t < beta.size(); ++t) {
    h = (1 - descent.step_size * descent.curvature) * h + beta[t];
    sum = descent.decay * sum + h;
    prefix[t] = sum;
  }
  const double faded = std::pow(descent.decay, static_cast<double>(descent.steps - descent.from));
  double squares = 0;
  for (std::uint64_t s = 0; s < descent.steps; ++s) {
    const double late = prefix[descent.steps - 1 - s];
    const double early = s < descent.from ? faded * prefix[descent.from - 1 - s] : 0.0;
    squares += (late - early) * (late - early);
  }
  const double weight = total_weight(descent);
  return squares * descent.step_size * descent.step_size / (weight * weight);
}

}  // namespace

double averaged_noise_variance(const noise::Correlation& correlation, const AveragedDescent& descent) {
  if (descent.steps <= descent.from) {
    throw InvalidParameter("steps", std::to_string(descent.steps), "more than the average's first");
  }
  const bool is_weight = descent.decay > 0 && descent.decay <= 1;  // false for a NaN, too
  if (!is_weight) throw InvalidParameter("decay", std::to_string(descent.decay), "a number in (0, 1]");
  if (const auto recurrence = noise::recurrence_of(correlation)) return by_recurrence(*recurrence, descent);
  return by_coefficients(correlation, descent);
}

}  // namespace nustream::inference
