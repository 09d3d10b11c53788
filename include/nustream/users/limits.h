// What one user may do in a stream whose unit of privacy is the user: two public limits, of which one or both hold.
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

/// W: what the Euclidean norms of a user's contributions add up to at most, in units of a step's bound (G; of moments
/// the radius of a block).
using Mass = Strong<tag::Mass, double>;

namespace users {

/// The largest k: counts are kept in 32 bits, of which the last value says that a person was closed.
inline constexpr std::uint64_t times_max = std::numeric_limits<std::uint32_t>::max() - 1;

/// The limits of every user. All records of a user in one step are one contribution; a user
///
/// - contributes in at most k steps, any two of them at least b steps apart (`participation`), and
/// - contributes norms that add up to at most W (`mass`): what would cross it is scaled to what is left.
///
/// They hold for ever, or within each of the `windows` of time by itself: then the promise is about a user's records
/// within one window, and a lane's table empties where the next one begins (WindowClock).
///
/// Both read the user's own records, released values and step counts alone, so that a user's records decide nothing
/// about another user's. Throws InvalidParameter where neither limit is given, or k is above times_max.
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
