// How far a linear model is from least squares, in units of its residuals.
#pragma once

#include <cstddef>
#include <vector>

#include "nustream/record/batch.h"

namespace nustream::benchmarks {

/// (t − s)'H(t − s)/σ²: t are the coefficients `theta`, s those of least squares, `best`; H is the mean of xx' over
/// the rows, and σ² the mean squared residual of s.
inline double excess(const record::RowBatch& rows, const std::vector<double>& theta,
                     const std::vector<double>& best) {
  double squares = 0;
  double residuals = 0;
  for (std::size_t i = 0; i < rows.count(); ++i) {
    double off = 0;
    double left = rows.y[i];
    for (std::size_t j = 0; j < rows.dimension; ++j) {
      const double x = rows.x[i * rows.dimension + j];
      off += x * (theta[j] - best[j]);
      left -= x * best[j];
    }
    squares += off * off;
    residuals += left * left;
  }
  return squares / residuals;
}

}  // namespace nustream::benchmarks
