#include "nustream/privacy/group.h"

#include <algorithm>
#include <limits>

#include "nustream/base/error.h"
#include "nustream/privacy/sensitivity.h"
#include "rounding.h"

namespace nustream::privacy {

Rho group_bound(Rho rho, std::uint64_t records) {
  if (records == 0) throw InvalidParameter("records", "0", "a whole number > 0");
  if (records == 1) return rho;
  const auto size = static_cast<double>(records);
  const double bound = rounded_up(rho.value() * size * size, 4 * unit_roundoff);
  return Rho{std::min(bound, std::numeric_limits<double>::max())};
}

Rho group_limit(const Spend& spend, std::uint64_t records) {
  const Rho bound = group_bound(spend.limit(), records);
  if (records == 1 || spend.participation().times() > 1) return bound;
  // Records that take part once each are, as a group, one unit that takes part `records` times, in any steps.
  try {
    return std::min(bound, spend.with({records, 1}).limit());
  } catch (const Unsupported&) {
    // Not every encoder has a bound for several participations; the general bound holds for all of them.
    return bound;
  } catch (const InvalidParameter&) {
    return bound;
  }
}

}  // namespace nustream::privacy
