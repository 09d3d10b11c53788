// The loss of a Toeplitz encoder and its gradient. The error comes from power series that are divided by c, and the
// sensitivity from the sum of the shifted columns.
#include "prefix_sums.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nustream::privacy::optimised {
namespace {

/// series ← series/c as power series, c_0 = 1. Every entry is taken out of the later ones once it is final. This
/// way there is no sum whose order a compiler could choose, and the bits are the same everywhere.
void divide(std::span<double> series, std::span<const double> c) {
  for (std::size_t t = 0; t < series.size(); ++t) {
    const double entry = series[t];
    double* const later = series.data() + t;
    const std::size_t reach = std::min(c.size(), series.size() - t);
    for (std::size_t s = 1; s < reach; ++s) later[s] -= c[s] * entry;
  }
}

}  // namespace

std::vector<double> error_weights(const PrefixSums& problem) {
  const auto steps = static_cast<std::size_t>(problem.horizon.value());
  std::vector<double> weights(steps, 1.0);
  if (problem.error == PrefixError::largest) return weights;
  const auto whole = static_cast<double>(steps);
  for (std::size_t s = 0; s < steps; ++s) weights[s] = static_cast<double>(steps - s) / whole;
  return weights;
}

ToeplitzLoss::ToeplitzLoss(const PrefixSums& problem)
    : steps_(static_cast<std::size_t>(problem.horizon.value())),
      times_(static_cast<std::size_t>(problem.participation.times_within(problem.horizon))),
      separation_(static_cast<std::size_t>(problem.participation.separation())),
      weights_(error_weights(problem)) {}

double ToeplitzLoss::operator()(std::span<const double> x, std::span<double> gradient) {
  // x is the column without c_0, which is 1 and no variable.
  c_.assign(x.size() + 1, 1.0);
  std::copy(x.begin(), x.end(), c_.begin() + 1);
  of_error_.assign(c_.size(), 0.0);
  of_square_.assign(c_.size(), 0.0);
  const double square = squared_sensitivity(of_square_);
  const double error = this->error(of_error_);
  const double loss = square * error;
  if (!std::isfinite(loss)) return std::numeric_limits<double>::infinity();
  // The product rule for sens² · error.
  for (std::size_t j = 0; j < x.size(); ++j) gradient[j] = square * of_error_[j + 1] + error * of_square_[j + 1];
  return loss;
}

double ToeplitzLoss::error(std::span<double> gradient) {
  prefix_.assign(steps_, 1.0);
  // P = 1/((1 − x) c(x)): the series of ones, divided by c. A second division gives Q.
  divide(prefix_, c_);
  quotient_ = prefix_;
  divide(quotient_, c_);
  double sum = 0;
  for (std::size_t s = 0; s < steps_; ++s) {
    const double weighted = weights_[s] * prefix_[s];
    sum += weighted * prefix_[s];
    prefix_[s] = -2 * weighted;
  }
  // d error/dc_j = −2 Σ_s weight_s P_s Q_{s−j}. prefix_ holds −2 weight_s P_s by now.
  for (std::size_t s = 0; s < steps_; ++s) {
    const double factor = quotient_[s];
    const double* const later = prefix_.data() + s;
    const std::size_t reach = std::min(gradient.size(), steps_ - s);
    for (std::size_t j = 0; j < reach; ++j) gradient[j] += factor * later[j];
  }
  return sum;
}

double ToeplitzLoss::squared_sensitivity(std::span<double> gradient) {
  met_.assign(steps_, 0.0);
  // The same pairs (entry of c, entry of V) are visited twice: to add the columns up, and to carry the derivative
  // back.
  const auto for_each_shift = [&](auto visit) {
    for (std::size_t i = 0; i < times_; ++i) {
      const std::size_t shift = i * separation_;
      const std::size_t reach = std::min(c_.size(), steps_ - shift);
      for (std::size_t t = 0; t < reach; ++t) visit(t, met_[t + shift]);
    }
  };
  for_each_shift([&](std::size_t t, double& sum) { sum += c_[t]; });
  double square = 0;
  for (const double sum : met_) square += sum * sum;
  for_each_shift([&](std::size_t t, const double& sum) { gradient[t] += 2 * sum; });
  return square;
}

}  // namespace nustream::privacy::optimised
