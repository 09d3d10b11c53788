// Decides from public figures alone how many rows each stage of private ranges takes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nustream/base/units.h"
#include "nustream/privacy/participation.h"

namespace nustream::ranges {

/// The figures that decide. All of them are public.
struct MeasuredTable {
  std::uint64_t records = 0;  ///< n, whether usable or not
  std::size_t columns = 0;    ///< m, the features and the target
  Rho rho{1};
  privacy::Adjacency adjacency = privacy::Adjacency::zero_out;
  bool of_users = false;  ///< the unit of privacy is the user
};

/// What each part of a fit costs, of the ρ of the whole fit.
struct PartRhos {
  Rho columns;  ///< each of at most four histograms of columns
  Rho lengths;  ///< each of the histograms of lengths
  Rho pilot;
  Rho answer;  ///< all releases over the rows of the answer together
};
/// The ρ of the parts, of which `lengths` are histograms of lengths (2 or 3).
///
/// Guarantee: together they cost at most `rho`. A record is in one part at most, so that every part has the whole of
/// it (parts in parallel). All parts may meet the same user, so for users the shares add up to it, in whichever of
/// them the user's rows are (adaptive composition; Bun and Steinke 2016, Lemma 2.3).
[[nodiscard]] PartRhos part_rhos(Rho rho, bool of_users, std::size_t lengths);

/// How many rows the parts have.
struct Sizes {
  std::uint64_t columns;  ///< each of at most four histograms of columns
  std::uint64_t rows;     ///< each of two histograms of lengths
  std::uint64_t pilot;
};

/// The sizes: `columns` is the largest of 1% of n, 500 and 60·√(m/2ρ), but at most 8%; `rows` is the larger of
/// 200/√(2ρ) and .5%, but at most 4%; `pilot` is 15%. Under replace-one the noise is √2 times larger, and so are the
/// bounds that come from it.
///
/// For users this ρ is the share of one histogram (part_rhos()). Each part is then as large as it may be, since more
/// rows meet more users.
///
/// Throws InvalidParameter where 60·√(m/2ρ) is above 10% of the records, as noise would then hide the columns; it
/// names the ρ and the n that would do. Throws it also for fewer than 500 records, and for a ρ outside (0, 10^6].
[[nodiscard]] Sizes sizes(const MeasuredTable& design);
/// The least ρ of the whole fit, and the least n, for which sizes() does not refuse.
[[nodiscard]] double least_rho(const MeasuredTable& design);
[[nodiscard]] std::uint64_t least_records(const MeasuredTable& design);
/// How many users are enough where the unit is the user: 60·√(m/2ρ) at the ρ of one histogram, as many as sizes()
/// asks of rows, since each user counts once in a histogram. In trials noise mostly hid all columns of a third as
/// many users.
[[nodiscard]] std::uint64_t enough_users(const MeasuredTable& design);

}  // namespace nustream::ranges
