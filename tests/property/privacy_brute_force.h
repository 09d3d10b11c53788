// Sensitivity from its definition: over every participation and with the dense covariance of the noise, without a
// closed form.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "nustream/noise/correlation.h"
#include "nustream/privacy/participation.h"

namespace nustream::privacy::brute_force {

using Matrix = std::vector<std::vector<long double>>;

/// Calls `visit` with every set of steps below `steps` that `participation` allows; each set is in rising order.
inline void for_each_participation(std::size_t steps, const Participation& participation,
                                   const std::function<void(const std::vector<std::size_t>&)>& visit) {
  std::vector<std::size_t> taken;
  const std::function<void(std::size_t)> extend = [&](std::size_t from) {
    visit(taken);
    if (taken.size() == participation.times()) return;
    for (std::size_t t = from; t < steps; ++t) {
      taken.push_back(t);
      extend(t + participation.separation());
      taken.pop_back();
    }
  };
  extend(0);
}

/// G = (B Bᵀ)⁻¹ = Cᵀ C, which holds ⟨C_i, C_j⟩ for all pairs of steps. It is computed by Gauss–Jordan elimination of
/// the noise's covariance.
inline Matrix encoder_products(const noise::Correlation& correlation, std::size_t steps) {
  const std::vector<double> dense = noise::dense_noise_matrix(correlation, steps);
  const std::size_t width = dense.size() / steps;
  Matrix covariance(steps, std::vector<long double>(steps, 0));
  Matrix inverse = covariance;
  for (std::size_t i = 0; i < steps; ++i) {
    inverse[i][i] = 1;
    for (std::size_t j = 0; j < steps; ++j) {
      for (std::size_t s = 0; s < width; ++s) {
        covariance[i][j] += static_cast<long double>(dense[i * width + s]) * dense[j * width + s];
      }
    }
  }
  for (std::size_t pivot = 0; pivot < steps; ++pivot) {
    const long double diagonal = covariance[pivot][pivot];
    for (std::size_t j = 0; j < steps; ++j) {
      covariance[pivot][j] /= diagonal;
      inverse[pivot][j] /= diagonal;
    }
    for (std::size_t i = 0; i < steps; ++i) {
      if (i == pivot) continue;
      const long double factor = covariance[i][pivot];
      for (std::size_t j = 0; j < steps; ++j) {
        covariance[i][j] -= factor * covariance[pivot][j];
        inverse[i][j] -= factor * inverse[pivot][j];
      }
    }
  }
  return inverse;
}

/// max_π Σ_ij |⟨C_i, C_j⟩|: the squared sensitivity for gradients of length 1 in any directions.
inline double squared_sensitivity(const noise::Correlation& correlation, std::size_t steps,
                                  const Participation& participation) {
  const Matrix products = encoder_products(correlation, steps);
  long double largest = 0;
  for_each_participation(steps, participation, [&](const std::vector<std::size_t>& taken) {
    long double sum = 0;
    for (const std::size_t i : taken) {
      for (const std::size_t j : taken) sum += std::abs(products[i][j]);
    }
    largest = std::max(largest, sum);
  });
  return static_cast<double>(largest);
}

/// The maximum, over participations π, of the sum over completed nodes of dyadic trees of (participations below the
/// node)².
inline double squared_tree_sensitivity(unsigned height, std::size_t steps, const Participation& participation) {
  double largest = 0;
  for_each_participation(steps, participation, [&](const std::vector<std::size_t>& taken) {
    double sum = 0;
    for (unsigned level = 0; level <= height && (steps >> level) > 0; ++level) {
      std::vector<double> below(steps >> level, 0.0);
      for (const std::size_t t : taken) {
        if ((t >> level) < below.size()) below[t >> level] += 1;
      }
      for (const double count : below) sum += count * count;
    }
    largest = std::max(largest, sum);
  });
  return largest;
}

}  // namespace nustream::privacy::brute_force
