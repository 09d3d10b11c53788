// Bounds what all records of one group together, for example of one person, can reveal. The promise itself is
// about one record, so a person with several records is promised less: these functions say how much less.
#pragma once

#include <cstdint>

#include "nustream/base/units.h"
#include "nustream/privacy/zcdp.h"

namespace nustream::privacy {

/// ρ of a whole group of `records` records where one record costs `rho`: records²·ρ, rounded up. The bound holds
/// for every ρ-zCDP mechanism and wherever the records lie in the stream. A product that overflows becomes the
/// largest finite number. Throws InvalidParameter for 0 records.
///
/// Source: Bun and Steinke 2016, Proposition 1.9.
[[nodiscard]] Rho group_bound(Rho rho, std::uint64_t records);

/// ρ of a whole group where each record takes part in one step of the mechanism `spend` and each step takes one
/// record. The group then moves C·G by the sum of as many columns of C as it has records, which is largest where
/// the records are adjacent.
///
/// The result is never above group_bound(spend.limit(), records). It is equal to that bound where no such sum of
/// columns is known: where records take part several times, and where the encoder has no bound for several
/// participations. Throws InvalidParameter for 0 records, and Unsupported where the spend has no limit.
[[nodiscard]] Rho group_limit(const Spend& spend, std::uint64_t records);

}  // namespace nustream::privacy
