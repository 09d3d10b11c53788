// The gate and the charge, on whole numbers of units of mass. Each rounding is against the user: what is used up is
// rounded up, and what is left is rounded down. So the norms that were let in add up to at most W, exactly.
#include "nustream/users/gate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "nustream/base/error.h"

namespace nustream::users {
namespace {

constexpr double units = static_cast<double>(mass_units);
constexpr double infinity = std::numeric_limits<double>::infinity();

/// The least whole number of units that is not below `value`. `value` is raised by one rounding first, as its last
/// operation may have lost that much.
double whole_units(double value) {
  return value > 0 ? std::ceil(std::nextafter(value, infinity)) : 0;
}

}  // namespace

bool may_contribute(const Limits& limits, const Standing& standing, StepIndex step) noexcept {
  // A step that is gated twice, or after a later one, would let a user contribute more often than is accounted for.
  NUSTREAM_REQUIRE(standing.next <= step.value(), "a user's steps only rise");
  if (standing.count == closed_count) return false;
  // Of a mass that is used up nothing could enter, so the record is not even read.
  if (limits.mass() && standing.mass >= mass_units) return false;
  if (!limits.participation() || standing.count == 0) return true;
  if (standing.count >= limits.participation()->times()) return false;
  // With b = 10, for example, a user that contributed in step 4 has next = 5, and may contribute again in step 14.
  const bool apart = step.value() - standing.next >= limits.participation()->separation() - 1;  // t − last ≥ b
  // next is 0 where the count was carried over from another epoch, whose steps do not count here.
  return standing.next == 0 || apart;
}

Charge charge(const Limits& limits, const Standing& standing, StepIndex step, double norm) noexcept {
  NUSTREAM_REQUIRE(norm >= 0 && norm <= 1, "a contribution is clipped before it is charged");
  NUSTREAM_REQUIRE(may_contribute(limits, standing, step), "a contribution passed the gate before it is charged");
  Charge charged{norm, standing};
  charged.after.next = step.value() + 1;
  // The count stops below closed_count, which would close the user.
  charged.after.count = std::min(standing.count + 1, static_cast<std::uint32_t>(times_max));
  if (!limits.mass()) return charged;
  const double mass = limits.mass()->value();
  const std::uint32_t left = mass_units - standing.mass;
  const double asked = whole_units(norm / mass * units);
  if (asked <= left) {
    charged.after.mass += static_cast<std::uint32_t>(asked);
    return charged;
  }
  // The rest is rounded down, so that it is never exceeded.
  charged.after.mass = mass_units;
  charged.allowed = std::min(norm, std::nextafter(static_cast<double>(left) / units * mass, 0.0));
  return charged;
}

Standing closed(Standing standing) noexcept {
  standing.count = closed_count;
  standing.mass = mass_units;
  return standing;
}

// Steps are numbered anew in another epoch, so the last step is forgotten.
Standing carried_over(Standing standing) noexcept {
  standing.next = 0;
  return standing;
}

Standing carried_over(Standing standing, Mass from, Mass to) noexcept {
  standing.next = 0;
  if (from == to) return standing;
  // The norm that was used up stays what it was; under another W it is another share.
  const double used = whole_units(std::nextafter(from.value() / to.value(), infinity) * standing.mass);
  standing.mass = used >= units ? mass_units : static_cast<std::uint32_t>(used);
  return standing;
}

}  // namespace nustream::users
