// Converts ρ to ε: at every δ that the settings name, by every conversion.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/privacy/epsilon.h"
#include "publish/json_writer.h"

namespace nustream::publish {

/// ε at one δ, by every conversion.
struct Epsilons {
  double delta = 0;
  std::array<double, privacy::conversions.size()> by{};  ///< in the order of privacy::conversions

  friend bool operator==(const Epsilons&, const Epsilons&) = default;
};

/// ε of `rho` at each δ, in the order of `deltas`.
[[nodiscard]] std::vector<Epsilons> epsilons_of(Rho rho, std::span<const Delta> deltas);

/// Writes "KEY":[{"delta":…,"gaussian":…,"zcdp":…,"zcdp-simple":…},…].
void append_epsilons(MemberName key, std::span<const Epsilons> epsilons, JsonWriter& json);

/// The spend for a person who has several records.
struct GroupSpend {
  std::uint64_t records = 0;
  Rho rho{0};
  double epsilon = 0;  ///< at the first δ, by the exact curve
};
/// Beyond this ε hardly anything is promised: what is seen may be e^20 times as probable with the records as without
/// them.
inline constexpr double hardly_anything = 20;
/// The numbers of records per person for which a plan and an inspection show the promise.
inline constexpr std::array<std::uint64_t, 2> group_sizes{10, 100};

/// The spend of `records` records together, for which ρ is at most `rho`.
[[nodiscard]] GroupSpend group_spend(std::uint64_t records, Rho rho, Delta delta);

/// Writes "groups":[{"records":10,"rho":…,"epsilon":…},…].
void append_groups(std::span<const GroupSpend> groups, JsonWriter& json);
/// One line for each group: what such a person is promised, at `delta`.
[[nodiscard]] std::string groups_text(std::span<const GroupSpend> groups, double delta);

/// A sentence where the largest δ is above 10/n for n records: a mechanism that shows whole records could keep such a
/// promise. Empty where no δ is that large.
[[nodiscard]] std::string large_delta(std::span<const Delta> deltas, std::uint64_t records);

}  // namespace nustream::publish
