// What one user may do in a stream whose unit of privacy is the user. There are two public limits, of which one or
// both hold.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "nustream/base/units.h"
#include "nustream/privacy/participation.h"
#include "nustream/users/period.h"

namespace nustream {

namespace tag {
struct Mass : PositiveFinite {
  static constexpr const char* name = "mass";
};
}  // namespace tag

/// W, an upper bound on the sum of the Euclidean norms of a user's contributions, in units of a step's bound (G; for
/// moments, the radius of a block).
using Mass = Strong<tag::Mass, double>;

namespace users {

/// The largest k. Counts are kept in 32 bits, of which the last value says that a person was closed.
inline constexpr std::uint64_t times_max = std::numeric_limits<std::uint32_t>::max() - 1;

/// The limits of every user. All records of a user in one step are one contribution. A user
///
/// - contributes in at most k steps, any two of them at least b steps apart (`participation`), and
/// - contributes norms that add up to at most W (`mass`): a contribution that would cross W is scaled to what is
///   left.
///
/// The limits hold for ever, or within each of the `windows` of time separately. In the latter case the promise is
/// about a user's records within one window, and a lane's table empties where the next window begins (WindowClock).
///
/// Both limits read only the user's own records, released values and step counts, so that the records of one user
/// decide nothing about another. The constructor throws InvalidParameter where neither limit is given, or where k is
/// above times_max.
class Limits {
 public:
  Limits(std::optional<privacy::Participation> participation, std::optional<Mass> mass,
         std::optional<Windows> windows = {});

  [[nodiscard]] const std::optional<privacy::Participation>& participation() const noexcept { return participation_; }
  [[nodiscard]] const std::optional<Mass>& mass() const noexcept { return mass_; }
  [[nodiscard]] const std::optional<Windows>& windows() const noexcept { return windows_; }

  friend bool operator==(const Limits&, const Limits&) = default;

 private:
  std::optional<privacy::Participation> participation_;
  std::optional<Mass> mass_;
  std::optional<Windows> windows_;
};

}  // namespace users
}  // namespace nustream
