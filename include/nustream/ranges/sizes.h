// How many rows each stage of private ranges takes: public figures alone decide.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nustream/base/units.h"
#include "nustream/privacy/participation.h"

namespace nustream::ranges {

/// What decides: all public.
struct TableDesign {
  std::uint64_t records = 0;  ///< n, usable or not
  std::size_t columns = 0;    ///< m: features and the target
  Rho rho{1};
  privacy::Adjacency adjacency = privacy::Adjacency::zero_out;
};

/// Rows of the parts.
struct Sizes {
  std::uint64_t columns;  ///< of each of at most four histograms of columns
  std::uint64_t rows;     ///< of each of two histograms of lengths
  std::uint64_t pilot;
};

/// columns: the largest of 1% of n, 500 and 60·√(m/2ρ), at most 8%; rows: the larger of 200/√(2ρ) and .5%, at most
/// 4%; pilot: 15%. Under replace-one noise is √2 larger, and so are the lower bounds that come from it.
///
/// Throws InvalidParameter, with the ρ and the n that would do, where 60·√(m/2ρ) is above 10% of the records: noise
/// would hide the columns; for fewer than 500 records; and for a ρ outside (0, 10^6].
[[nodiscard]] Sizes sizes(const TableDesign& design);
/// The least ρ, and the least n, for which sizes() does not refuse.
[[nodiscard]] double least_rho(const TableDesign& design);
[[nodiscard]] std::uint64_t least_records(const TableDesign& design);

}  // namespace nustream::ranges
