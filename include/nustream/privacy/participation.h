// Says who takes part when. A private run makes three independent choices: where gradients come from, who takes
// part when, and how noise is correlated. This header holds the second one, and what two neighbouring streams
// differ in.
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

/// What two neighbouring streams differ in. A ρ says nothing without it.
struct Neighbours {
  Adjacency adjacency = Adjacency::zero_out;
  bool target_only = false;  ///< the streams differ in the target alone, and the features are public
  bool of_user = false;      ///< the streams differ in all records of one user; if false, in one record

  friend bool operator==(const Neighbours&, const Neighbours&) = default;
};

/// The ρ over the neighbours `asked` that follows from a ρ over the neighbours `told`; empty where none follows.
///
/// Replacing a record is two zero-outs, one after the other, and two such moves cost four times as much as one
/// (Bun and Steinke 2016, Proposition 1.9): zero-out restated as replace-one is 4ρ. In the other direction ρ
/// stays, as zero-out is a special case of a replacement; it also stays from whole records to their targets.
///
/// Nothing follows from a promise about targets for whole records. Nor does anything follow between records and
/// users in either direction: a promise about one record does not cover all of a user's, and a promise about all
/// records of a user says nothing of what a change to a single one of them would reveal.
[[nodiscard]] std::optional<Rho> restated(Rho rho, Neighbours told, Neighbours asked);

/// Δ from G: G under zero-out, 2G under replace-one. The factor 2 stands nowhere else.
[[nodiscard]] Displacement displacement(ClipNorm clip, Adjacency adjacency);

/// A record takes part in at most k steps, any two of them at least b steps apart. The constructor throws
/// InvalidParameter unless k ≥ 1 and b ≥ 1.
class Participation {
 public:
  Participation(std::uint64_t times, std::uint64_t separation);
  /// The participation of a stream that is read once: k = 1.
  static Participation once() { return {1, 1}; }

  [[nodiscard]] std::uint64_t times() const noexcept { return times_; }            ///< k
  [[nodiscard]] std::uint64_t separation() const noexcept { return separation_; }  ///< b, steps
  /// The most participations that fit into T = `steps` steps: min(k, ⌈T/b⌉).
  [[nodiscard]] std::uint64_t times_within(StepCount steps) const noexcept;

  friend bool operator==(const Participation&, const Participation&) = default;

 private:
  std::uint64_t times_;
  std::uint64_t separation_;
};

}  // namespace nustream::privacy
