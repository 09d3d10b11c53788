// One evaluation of the loss and its gradient: the columns are divided by their norms, Y = A C⁻¹ and Q = Y C⁻ᵀ are
// solved for eight rows at a time, and the derivative is carried back to the columns as they were given.
#include "banded_loss.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace nustream::privacy::optimised {

std::size_t BandedLoss::height(std::size_t column) const {
  return std::min(bands_, steps_ - column);
}

std::size_t BandedLoss::entries() const {
  std::size_t count = 0;
  for (std::size_t s = 0; s < steps_; ++s) count += height(s);
  return count;
}

/// Fills c_ and norms_. Returns false where a diagonal entry is not positive, which noise::Dense would refuse.
bool BandedLoss::normalise(std::span<const double> columns) {
  c_.assign(steps_ * bands_, 0.0);
  norms_.assign(steps_, 0.0);
  for (std::size_t s = 0, first = 0; s < steps_; first += height(s), ++s) {
    if (!(columns[first] > 0)) return false;
    double square = 0;
    for (std::size_t i = 0; i < height(s); ++i) square += columns[first + i] * columns[first + i];
    norms_[s] = std::sqrt(square);
    for (std::size_t i = 0; i < height(s); ++i) c_[s * bands_ + i] = columns[first + i] / norms_[s];
  }
  return true;
}

/// Adds what rows first … first + 7 of Y and Q contribute to of_c_, and returns their part of ‖Y‖².
double BandedLoss::add_rows(std::size_t first) {
  const std::size_t last = std::min(first + lanes, steps_) - 1;
  y_.assign((steps_ + bands_) * lanes, 0.0);
  q_.assign((steps_ + bands_) * lanes, 0.0);
  double square = 0;
  // Row by row, Y C = A is solved from the last column: y_s = ([s ≤ t] − Σ_{i≥1} C_{s+i,s} y_{s+i})/C_ss.
  for (std::size_t s = last + 1; s-- > 0;) {
    std::array<double, lanes> sums{};
    // A lane whose row lies beyond the matrix starts from zeros. It stays at zero, and so adds nothing.
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] = first + lane <= last && s <= first + lane ? 1 : 0;
    const double* const column = c_.data() + s * bands_;
    const std::size_t reach = std::min(height(s), last + 1 - s);
    for (std::size_t i = 1; i < reach; ++i) {
      const double* const later = y_.data() + (s + i) * lanes;
      for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] -= column[i] * later[lane];
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const double entry = sums[lane] / column[0];
      y_[s * lanes + lane] = entry;
      square += entry * entry;
    }
  }
  // Q Cᵀ = Y is solved from the first column: q_s = (y_s − Σ_{i≥1} C_{s,s−i} q_{s−i})/C_ss. Each q_s is taken out
  // of the later columns as soon as it is known.
  std::copy_n(y_.begin(), (last + 1) * lanes, q_.begin());
  for (std::size_t s = 0; s <= last; ++s) {
    const double* const column = c_.data() + s * bands_;
    double* const q = q_.data() + s * lanes;
    for (std::size_t lane = 0; lane < lanes; ++lane) q[lane] /= column[0];
    const std::size_t reach = std::min(height(s), last + 1 - s);
    for (std::size_t i = 1; i < reach; ++i) {
      double* const later = q_.data() + (s + i) * lanes;
      for (std::size_t lane = 0; lane < lanes; ++lane) later[lane] -= column[i] * q[lane];
    }
    for (std::size_t i = 0; i < reach; ++i) {
      const double* const y = y_.data() + (s + i) * lanes;
      double sum = 0;
      for (std::size_t lane = 0; lane < lanes; ++lane) sum += y[lane] * q[lane];
      of_c_[s * bands_ + i] += sum;
    }
  }
  return square;
}

double BandedLoss::operator()(std::span<const double> columns, std::span<double> gradient) {
  if (!normalise(columns)) return std::numeric_limits<double>::infinity();
  of_c_.assign(steps_ * bands_, 0.0);
  double square = 0;
  for (std::size_t first = 0; first < steps_; first += lanes) square += add_rows(first);
  const auto count = static_cast<double>(steps_);
  // The columns were divided by their norms, so only the part of the derivative across the column counts; the part
  // along it is projected out.
  for (std::size_t s = 0, first = 0; s < steps_; first += height(s), ++s) {
    const double* const column = c_.data() + s * bands_;
    const double* const of_column = of_c_.data() + s * bands_;
    double along = 0;
    for (std::size_t i = 0; i < height(s); ++i) along += column[i] * of_column[i];
    for (std::size_t i = 0; i < height(s); ++i) {
      gradient[first + i] = -2 / count * (of_column[i] - along * column[i]) / norms_[s];
    }
  }
  return std::isfinite(square) ? square / count : std::numeric_limits<double>::infinity();
}

}  // namespace nustream::privacy::optimised
