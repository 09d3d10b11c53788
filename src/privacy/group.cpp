// What several records of one person reveal together. The general bound needs ρ alone; the sharper one asks the
// mechanism for its sensitivity to adjacent participations.
#include "nustream/privacy/group.h"

#include <algorithm>
#include <limits>

#include "nustream/base/error.h"
#include "nustream/privacy/sensitivity.h"
#include "rounding.h"

namespace nustream::privacy {

Rho group_bound(Rho rho, std::uint64_t records) {
  if (records == 0) throw InvalidParameter("records", "0", "a whole number > 0");
  // One record is no group: its ρ is passed on as it is, without the slack for the product.
  if (records == 1) return rho;
  const auto size = static_cast<double>(records);
  const double bound = rounded_up(rho.value() * size * size, 4 * unit_roundoff);
  return Rho{std::min(bound, std::numeric_limits<double>::max())};
}

Rho group_limit(const Spend& spend, std::uint64_t records) {
  const Rho bound = group_bound(spend.limit(), records);
  // Where each record takes part several times, those steps of a group may lie in any places, and no (k, b) describes
  // them. The general bound holds all the same.
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
