// What a ρ comes to as ε: at every δ that the settings name, by every conversion.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/privacy/epsilon.h"

namespace nustream::publish {

/// At one δ.
struct Epsilons {
  double delta = 0;
  std::array<double, privacy::conversions.size()> by{};  ///< in the order of privacy::conversions

  friend bool operator==(const Epsilons&, const Epsilons&) = default;
};

/// In the order of `deltas`.
[[nodiscard]] std::vector<Epsilons> epsilons_of(Rho rho, std::span<const Delta> deltas);

/// ,"KEY":[{"delta":…,"gaussian":…,"zcdp":…,"zcdp-simple":…},…]
void append_epsilons(std::string_view key, std::span<const Epsilons> epsilons, std::string& out);

/// Of a person with several records.
struct GroupSpend {
  std::uint64_t records = 0;
  Rho rho{0};
  double epsilon = 0;  ///< at the first δ, by the exact curve
};
/// Beyond this ε hardly anything is promised: what is seen may be e^20 times as probable with the records as without.
inline constexpr double hardly_anything = 20;
/// The numbers of records that a plan and an inspection speak of.
inline constexpr std::array<std::uint64_t, 2> group_sizes{10, 100};

/// What `rho` about so many records together comes to.
[[nodiscard]] GroupSpend group_spend(std::uint64_t records, Rho rho, Delta delta);

/// ,"groups":[{"records":10,"rho":…,"epsilon":…},…]
void append_groups(std::span<const GroupSpend> groups, std::string& out);
/// One line a group: what its person is promised, at `delta`.
[[nodiscard]] std::string groups_text(std::span<const GroupSpend> groups, double delta);

/// One sentence where the largest δ is so large that a mechanism which shows whole records could keep it: above 10/n
/// for n records.
/// "" else.
[[nodiscard]] std::string large_delta(std::span<const Delta> deltas, std::uint64_t records);

}  // namespace nustream::publish
