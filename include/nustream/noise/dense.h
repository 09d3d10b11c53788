// A correlation that is not Toeplitz: its encoder C is any lower-triangular matrix for a known number of steps.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "nustream/base/units.h"

namespace nustream::noise {

/// A matrix C with a positive diagonal that is zero outside the `bands` diagonals from the main one down. Its inverse
/// B is full all the same, so noise is generated from C: z_t = (w_t − Σ_{s<t} C_ts z_s)/C_tt. Copies share the
/// entries.
class Dense {
 public:
  /// `rows` holds the rows of C one after the other; row t has the entries of its last min(t + 1, bands) columns, the
  /// diagonal last. Throws InvalidParameter for a horizon of 0, bands outside 1 … horizon, more than 2^23 entries, a
  /// number of entries that does not fit bands and horizon, a diagonal entry that is not positive, or entries that
  /// are not finite.
  Dense(std::vector<double> rows, std::size_t bands, StepCount horizon);

  [[nodiscard]] std::size_t bands() const noexcept { return bands_; }
  [[nodiscard]] StepCount horizon() const noexcept { return horizon_; }
  /// The entries (t, max(0, t − bands + 1)) … (t, t) of C, for t < horizon.
  [[nodiscard]] std::span<const double> row(std::size_t t) const noexcept;
  /// All rows, one after the other.
  [[nodiscard]] std::span<const double> rows() const noexcept { return *rows_; }

  /// The number of entries of a matrix with these bands and horizon. Throws InvalidParameter as the constructor does.
  [[nodiscard]] static std::size_t entries(std::size_t bands, StepCount horizon);
  /// The number of entries that stand before those of row t.
  [[nodiscard]] static std::size_t entries_before(std::size_t t, std::size_t bands) noexcept;

 private:
  std::size_t bands_;
  StepCount horizon_;
  std::shared_ptr<const std::vector<double>> rows_;
};

}  // namespace nustream::noise
