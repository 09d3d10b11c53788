// What a person with several records is promised: the unit of the promise is one record.
#pragma once

#include <cstdint>

#include "nustream/base/units.h"
#include "nustream/privacy/zcdp.h"

namespace nustream::privacy {

/// ρ about all of a group's records together, where one record costs `rho`: records² ρ, rounded up. Valid of every
/// ρ-zCDP mechanism and of any places of the records; an infinite product is the largest finite number.
///
/// Source: Bun and Steinke 2016, Proposition 1.9.
[[nodiscard]] Rho group_bound(Rho rho, std::uint64_t records);

/// The same of one mechanism whose steps take one record each, once: the group's records move C·G by the sum of as
/// many columns of C, which is largest where they are adjacent. Never above group_bound(spend.limit(), records),
/// which stands where no such sum is at hand: records that take part several times, and encoders without a bound for
/// it.
[[nodiscard]] Rho group_limit(const Spend& spend, std::uint64_t records);

}  // namespace nustream::privacy
