// Adjacency and participation as values: the one place where Δ is made of G, and where k and b are checked.
#include "nustream/privacy/participation.h"

#include <algorithm>
#include <string>

#include "nustream/base/error.h"

namespace nustream::privacy {

std::string_view name(Adjacency adjacency) noexcept {
  return adjacency == Adjacency::replace_one ? "replace-one" : "zero-out";
}

std::optional<Rho> restated(Rho rho, Neighbours told, Neighbours asked) {
  // A promise about the target alone says nothing about the features, and one about users says nothing about
  // records.
  if (told.target_only && !asked.target_only) return std::nullopt;
  if (told.of_user != asked.of_user) return std::nullopt;
  const bool twice = told.adjacency == Adjacency::zero_out && asked.adjacency == Adjacency::replace_one;
  return twice ? Rho{4 * rho.value()} : rho;
}

Displacement displacement(ClipNorm clip, Adjacency adjacency) {
  const bool twice = adjacency == Adjacency::replace_one;
  const double factor = twice ? 2 : 1;
  return Displacement{factor * clip.value()};
}

Participation::Participation(std::uint64_t times, std::uint64_t separation) : times_(times), separation_(separation) {
  if (times == 0) throw InvalidParameter("participation times", "0", "an integer >= 1");
  if (separation == 0) throw InvalidParameter("participation separation", "0", "an integer >= 1");
}

std::uint64_t Participation::times_within(StepCount steps) const noexcept {
  // ⌈T/b⌉, without the sum T + b − 1, which could overflow.
  const std::uint64_t whole = steps.value() / separation_;
  const std::uint64_t fitting = whole + (steps.value() % separation_ != 0 ? 1 : 0);
  return std::min(times_, fitting);
}

}  // namespace nustream::privacy
