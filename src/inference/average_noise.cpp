#include "nustream/inference/average_noise.h"

#include <Eigen/Dense>

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

/// x_{t+1} = M x_t + b w_t, x = (s_1 … s_m, e, Σ e).
struct System {
  Matrix step;
  Vector input;
};

System system_of(const noise::Recurrence& noise, const AveragedDescent& descent) {
  const auto m = static_cast<Eigen::Index>(noise.p.size());
  const Real eta = descent.step_size;
  System system{Matrix::Zero(m + 2, m + 2), Vector::Zero(m + 2)};
  for (Eigen::Index i = 0; i < m; ++i) {
    system.step(i, i) = noise.p[static_cast<std::size_t>(i)];
    system.input(i) = 1;
    system.step(m, i) = eta * noise.a[static_cast<std::size_t>(i)];
  }
  system.step(m, m) = 1 - eta * static_cast<Real>(descent.curvature);
  system.input(m) = -eta;
  // The new e enters the sum.
  system.step.row(m + 1) = system.step.row(m);
  system.step(m + 1, m + 1) = 1;
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
      covariance = square * covariance * square.transpose() + spread;
      power = square * power;
    }
    spread = square * spread * square.transpose() + spread;
    square = square * square;
  }
  return {power, covariance};
}

double by_recurrence(const noise::Recurrence& noise, const AveragedDescent& descent) {
  const System system = system_of(noise, descent);
  Matrix before = propagate(system, descent.from).second;
  const Eigen::Index sum = before.rows() - 1;
  before.row(sum).setZero();  // the sum begins here
  before.col(sum).setZero();
  const std::uint64_t count = descent.steps - descent.from;
  const auto [power, spread] = propagate(system, count);
  const Real variance = (power * before * power.transpose() + spread)(sum, sum);
  return static_cast<double>(variance / (static_cast<Real>(count) * static_cast<Real>(count)));
}

/// h = B(x)/(1 − (1 − ηλ)x), P its prefix sums: w_s enters the mean with −η(P_{T−1−s} − P_{from−1−s})/count.
double by_coefficients(const noise::Correlation& correlation, const AveragedDescent& descent) {
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
    sum += h;
    prefix[t] = sum;
  }
  double squares = 0;
  for (std::uint64_t s = 0; s < descent.steps; ++s) {
    const double late = prefix[descent.steps - 1 - s];
    const double early = s < descent.from ? prefix[descent.from - 1 - s] : 0.0;
    squares += (late - early) * (late - early);
  }
  const auto count = static_cast<double>(descent.steps - descent.from);
  return squares * descent.step_size * descent.step_size / (count * count);
}

}  // namespace

double averaged_noise_variance(const noise::Correlation& correlation, const AveragedDescent& descent) {
  if (descent.steps <= descent.from) {
    throw InvalidParameter("steps", std::to_string(descent.steps), "more than the average's first");
  }
  if (const auto recurrence = noise::recurrence_of(correlation)) return by_recurrence(*recurrence, descent);
  return by_coefficients(correlation, descent);
}

}  // namespace nustream::inference
