// Computes the prefix-sum loss of any correlation from its coefficients and its own sensitivity.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <variant>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/privacy/optimised.h"
#include "nustream/privacy/sensitivity.h"
#include "prefix_root.h"
#include "prefix_sums.h"
#include "rational_loss.h"

namespace nustream::privacy {
namespace {

/// The most steps for which coefficients are listed, and for which dual weights are iterated.
/// A list of so many coefficients takes 128 MiB.
constexpr std::uint64_t most_listed = std::uint64_t{1} << 24;
constexpr std::uint64_t most_iterated = 20'000;

/// The error of a Toeplitz B: E_t is a running sum of squared prefixes of β.
double toeplitz_error(const noise::Correlation& correlation, const PrefixSums& problem) {
  if (problem.horizon.value() > most_listed) {
    throw Unsupported("the loss of this correlation is not computed for more than 2^24 steps: use a rational one");
  }
  const std::vector<double> weights = optimised::error_weights(problem);
  const std::vector<double> beta = noise::noise_coefficients(correlation, weights.size());
  double prefix = 0;
  double error = 0;
  for (std::size_t s = 0; s < weights.size(); ++s) {
    prefix += beta[s];
    error += weights[s] * prefix * prefix;
  }
  return error;
}

double error_of(const PrefixSums& problem, const std::vector<double>& errors) {
  if (problem.error == PrefixError::largest) return *std::max_element(errors.begin(), errors.end());
  return std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
}

/// The error of a dense encoder: E_t = ‖y‖² for the y with yᵀC = (1, …, 1, 0, …), which has ones up to step t.
double dense_error(const noise::Dense& encoder, const PrefixSums& problem) {
  std::vector<double> errors(static_cast<std::size_t>(problem.horizon.value()), 0.0);
  std::vector<double> left;
  for (std::size_t t = 0; t < errors.size(); ++t) {
    left.assign(t + 1, 1.0);
    for (std::size_t s = t + 1; s-- > 0;) {
      const std::span<const double> row = encoder.row(s);
      const double entry = left[s] / row.back();
      errors[t] += entry * entry;
      double* const earlier = left.data() + (s + 1 - row.size());
      for (std::size_t i = 0; i + 1 < row.size(); ++i) earlier[i] -= entry * row[i];
    }
  }
  return error_of(problem, errors);
}

/// The error from the rows of A B, summed as the rows of B are read: for correlations that are not Toeplitz.
double matrix_error(const noise::Correlation& correlation, const PrefixSums& problem) {
  const auto steps = static_cast<std::size_t>(problem.horizon.value());
  const std::vector<double> matrix = noise::dense_noise_matrix(correlation, steps);
  const std::size_t width = matrix.size() / steps;
  std::vector<double> row(width, 0.0);
  std::vector<double> errors(steps, 0.0);
  for (std::size_t t = 0; t < steps; ++t) {
    for (std::size_t i = 0; i < width; ++i) {
      row[i] += matrix[t * width + i];
      errors[t] += row[i] * row[i];
    }
  }
  return error_of(problem, errors);
}

/// The error by the cheapest way that the family has: in closed form for rational correlations, from coefficients
/// for other Toeplitz ones, and from a matrix for the rest.
double error(const noise::Correlation& correlation, const PrefixSums& problem) {
  if (const auto* dense = std::get_if<noise::Dense>(&correlation.family())) return dense_error(*dense, problem);
  if (const auto* rational = std::get_if<noise::Rational>(&correlation.family())) {
    return optimised::RationalLoss(problem).error(optimised::Poles<double>(optimised::gaps_of(*rational)));
  }
  return correlation.toeplitz() ? toeplitz_error(correlation, problem) : matrix_error(correlation, problem);
}

}  // namespace

// The sensitivity and the error belong to one and the same correlation: its C for the one, its B for the other.
double prefix_sum_loss(const noise::Correlation& correlation, const PrefixSums& problem) {
  const double sensitivity = privacy::sensitivity(correlation, problem.horizon, problem.participation).value();
  return sensitivity * sensitivity * error(correlation, problem);
}

double prefix_sum_loss_bound(const PrefixSums& problem) {
  if (problem.horizon.value() == 0) throw InvalidParameter("horizon", "0", "at least 1 step");
  if (problem.participation.times_within(problem.horizon) > 1) {
    throw Unsupported("the bound of the loss is known for one participation only");
  }
  if (problem.horizon.value() > most_iterated) {
    throw Unsupported("the bound of the loss is not computed for more than 20,000 steps");
  }
  return optimised::dual_weights(problem).value;
}

}  // namespace nustream::privacy
