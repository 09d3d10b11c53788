// A correlation that is not Toeplitz: the encoder C is any lower-triangular matrix of a known number of steps.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "nustream/base/units.h"

namespace nustream::noise {

/// C with positive diagonal, zero outside the `bands` diagonals from the main one down; B = C⁻¹ is full all the same.
/// z_t = (w_t − Σ_{s<t} C_ts z_s)/C_tt. Valid by construction; copies share the entries.
class Dense {
 public:
  /// `rows`: row t holds the entries of its last min(t + 1, bands) columns, the diagonal last; the rows follow each
  /// other. Throws InvalidParameter for a horizon of 0, bands outside 1 … horizon, more than 2^23 entries, another
  /// number of entries than that, a diagonal that is not positive, or entries that are not finite.
  Dense(std::vector<double> rows, std::size_t bands, StepCount horizon);

  [[nodiscard]] std::size_t bands() const noexcept { return bands_; }
  [[nodiscard]] StepCount horizon() const noexcept { return horizon_; }
  /// Entries (t, max(0, t − bands + 1)) … (t, t) of C, t < horizon.
  [[nodiscard]] std::span<const double> row(std::size_t t) const noexcept;
  /// All rows, one after the other.
  [[nodiscard]] std::span<const double> rows() const noexcept { return *rows_; }

  /// How many entries such a matrix has. Throws InvalidParameter as the constructor does.
  [[nodiscard]] static std::size_t entries(std::size_t bands, StepCount horizon);
  /// How many stand before those of row t.
  [[nodiscard]] static std::size_t entries_before(std::size_t t, std::size_t bands) noexcept;

 private:
  std::size_t bands_;
  StepCount horizon_;
  std::shared_ptr<const std::vector<double>> rows_;
};

}  // namespace nustream::noise
