// The loss of a banded encoder whose columns all have one norm, with its gradient; private to the privacy room.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace nustream::privacy::optimised {

/// The loss (1/T) ‖A C⁻¹‖²_F, where C has the given columns, each divided by its norm. With Y = A C⁻¹ and Q = Y
/// C⁻ᵀ
///
///     d‖Y‖² = −2 ⟨Yᵀ Q, dC⟩,
///
/// Only the band of that derivative is needed, so Y and Q are computed row by row by substitution, in O(T² bands).
/// Eight rows go together in the lanes of a vector: the sums of each row then keep their order, and the result its
/// bits.
class BandedLoss {
 public:
  BandedLoss(std::size_t steps, std::size_t bands) : steps_(steps), bands_(bands) {}

  /// The number of entries of all columns, one after the other: C_{s,s}, C_{s+1,s}, … within the band and the
  /// matrix.
  [[nodiscard]] std::size_t entries() const;
  /// How many of these entries column s has.
  [[nodiscard]] std::size_t height(std::size_t column) const;

  /// Returns the loss and writes its gradient. The loss is +∞ where a diagonal entry is not positive.
  double operator()(std::span<const double> columns, std::span<double> gradient);

 private:
  static constexpr std::size_t lanes = 8;

  bool normalise(std::span<const double> columns);
  double add_rows(std::size_t first);

  std::size_t steps_;
  std::size_t bands_;
  std::vector<double> c_;      // [s·bands + i] = C_{s+i,s}, columns of norm 1
  std::vector<double> norms_;  // norms of the columns as they were given
  std::vector<double> of_c_;   // (Yᵀ Q)_{s+i,s}
  std::vector<double> y_;      // [s·lanes + lane]: eight rows of Y
  std::vector<double> q_;
};

}  // namespace nustream::privacy::optimised
