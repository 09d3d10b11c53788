// A user without any limit could move the sums without bound, so at least one is asked for.
#include "nustream/users/limits.h"

#include <string>

#include "nustream/base/error.h"

namespace nustream::users {

Limits::Limits(std::optional<privacy::Participation> participation, std::optional<Mass> mass,
               std::optional<Windows> windows)
    : participation_(participation), mass_(mass), windows_(windows) {
  if (!participation && !mass) {
    throw InvalidParameter("limits of a user", "none", "a number of participations, a mass, or both");
  }
  if (participation && participation->times() > times_max) {
    throw InvalidParameter("participation times", std::to_string(participation->times()), "at most 2^32 - 2");
  }
}

}  // namespace nustream::users
