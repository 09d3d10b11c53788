// The first stages of a fit, which go from histograms of each column to its centre and scale.
#pragma once

#include "nustream/ranges/noise_draws.h"
#include "nustream/ranges/sizes.h"
#include "nustream/ranges/stride.h"
#include "nustream/ranges/table_fit.h"

namespace nustream::ranges {

/// The rows of a table in the order of a stride, which the stages share.
struct Rows {
  const Table& table;
  Stride stride;
  Dealer dealer;

  explicit Rows(const Table& of) : table(of), stride(of.records()), dealer(of.records()) {}
  /// The value of column j of a row. The target comes after the features.
  [[nodiscard]] double value(std::uint64_t position, std::size_t column) const noexcept {
    return column == table.features ? table.y[position] : table.x[position * table.features + column];
  }
};

/// Finds out which columns the model has and where they lie. Fills shares, features, unusable_column, placements,
/// intervals, zooms and is_stopped.
void place_columns(Rows& rows, const Sizes& sizes, const FitSettings& settings, const DrawNoise& draw, TableFit& fit);

}  // namespace nustream::ranges
