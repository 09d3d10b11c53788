// The loss of a banded encoder with columns of one norm, with its gradient; private to the privacy room.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace nustream::privacy::optimised {

/// (1/T) ‖A C⁻¹‖²_F for C = the given columns, each divided by its norm. With Y = A C⁻¹ and Q = Y C⁻ᵀ
///
///     d‖Y‖² = −2 ⟨Yᵀ Q, dC⟩,
///
/// of which only the band is needed: Y and Q row by row by substitution, O(T² bands). Rows go together in lanes of
/// eight, so that the sums of each keep their order.
class BandedLoss {
 public:
  BandedLoss(std::size_t steps, std::size_t bands) : steps_(steps), bands_(bands) {}

  /// Entries of all columns, one after the other: C_{s,s}, C_{s+1,s}, … within the band and the matrix.
  [[nodiscard]] std::size_t entries() const;
  /// How many of them column s has.
  [[nodiscard]] std::size_t height(std::size_t column) const;

  /// Gives the loss and writes its gradient; +∞ where a diagonal is not positive.
  double operator()(std::span<const double> columns, std::span<double> gradient);

 private:
  static constexpr std::size_t lanes = 8;

  bool normalise(std::span<const double> columns);
  double add_rows(std::size_t first);

  std::size_t steps_;
  std::size_t bands_;
  std::vector<double> c_;      // [s·bands + i] = C_{s+i,s}, columns of norm 1
  std::vector<double> norms_;  // of the given columns
  std::vector<double> of_c_;   // (Yᵀ Q)_{s+i,s}
  std::vector<double> y_;      // [s·lanes + lane]: eight rows of Y
  std::vector<double> q_;
};

}  // namespace nustream::privacy::optimised
