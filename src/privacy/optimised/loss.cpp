// The loss of any correlation, by its coefficients and its own sensitivity.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/privacy/optimised.h"
#include "nustream/privacy/sensitivity.h"
#include "prefix_root.h"
#include "prefix_sums.h"

namespace nustream::privacy {
namespace {

double toeplitz_error(const noise::Correlation& correlation, const PrefixSums& problem) {
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

/// E_t of each row of A B.
double matrix_error(const noise::Correlation& correlation, const PrefixSums& problem) {
  const auto steps = static_cast<std::size_t>(problem.horizon.value());
  const std::vector<double> matrix = noise::dense_noise_matrix(correlation, steps);
  const std::size_t width = matrix.size() / steps;
  std::vector<double> row(width, 0.0);
  double largest = 0;
  double sum = 0;
  for (std::size_t t = 0; t < steps; ++t) {
    double square = 0;
    for (std::size_t i = 0; i < width; ++i) {
      row[i] += matrix[t * width + i];
      square += row[i] * row[i];
    }
    largest = std::max(largest, square);
    sum += square;
  }
  return problem.error == PrefixError::largest ? largest : sum / static_cast<double>(steps);
}

}  // namespace

double prefix_sum_loss(const noise::Correlation& correlation, const PrefixSums& problem) {
  const double sensitivity = privacy::sensitivity(correlation, problem.horizon, problem.participation).value();
  const double error =
      correlation.toeplitz() ? toeplitz_error(correlation, problem) : matrix_error(correlation, problem);
  return sensitivity * sensitivity * error;
}

double prefix_sum_loss_bound(const PrefixSums& problem) {
  if (problem.horizon.value() == 0) throw InvalidParameter("horizon", "0", "at least 1 step");
  if (problem.participation.times_within(problem.horizon) > 1) {
    throw Unsupported("the bound of the loss is known for one participation only");
  }
  return optimised::dual_weights(problem).value;
}

}  // namespace nustream::privacy
