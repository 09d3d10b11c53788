// Who takes part when: the second of the three choices that are independent of each other (where gradients
// come from, who takes part when, how noise is correlated).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "nustream/base/units.h"

namespace nustream::privacy {

/// What one record is replaced by in a neighbouring stream.
enum class Adjacency {
  zero_out,    ///< by a null record with gradient 0: Δ = G
  replace_one  ///< by any other record: Δ = 2G
};

/// "zero-out" or "replace-one".
[[nodiscard]] std::string_view name(Adjacency adjacency) noexcept;

/// What two neighbouring streams differ in: without it a ρ says nothing.
struct Neighbours {
  Adjacency adjacency = Adjacency::zero_out;
  bool target_only = false;  ///< in one record's target; its features are public
  bool of_user = false;      ///< in all records of one user; else in one record

  friend bool operator==(const Neighbours&, const Neighbours&) = default;
};

/// The ρ that a ρ over `told` comes to over `asked`. A replacement is two zero-outs, and two neighbours apart cost
/// four times as much (Bun and Steinke 2016, Proposition 1.9); whoever is safe against a replacement is safe against
/// a zero-out, and whoever protects the record its target. Empty where nothing follows: of a promise about targets,
/// for whole records; of one about records, for users, and the other way round, since one of all records of a user
/// says nothing of what a single one of them would change.
[[nodiscard]] std::optional<Rho> restated(Rho rho, Neighbours told, Neighbours asked);

/// Δ from G: the only place where the factor 2 stands.
[[nodiscard]] Displacement displacement(ClipNorm clip, Adjacency adjacency);

/// A record takes part in at most k steps, any two of them at least b steps apart. Valid by construction:
/// k ≥ 1, b ≥ 1.
class Participation {
 public:
  Participation(std::uint64_t times, std::uint64_t separation);
  /// A stream that is read once: k = 1.
  static Participation once() { return {1, 1}; }

  [[nodiscard]] std::uint64_t times() const noexcept { return times_; }            ///< k
  [[nodiscard]] std::uint64_t separation() const noexcept { return separation_; }  ///< b, steps
  /// The most times that fit into `steps` steps: min(k, ⌈T/b⌉).
  [[nodiscard]] std::uint64_t times_within(StepCount steps) const noexcept;

  friend bool operator==(const Participation&, const Participation&) = default;

 private:
  std::uint64_t times_;
  std::uint64_t separation_;
};

}  // namespace nustream::privacy
