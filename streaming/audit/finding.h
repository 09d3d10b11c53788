// What an audit found, and what that says of the claim.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "audit/bounds.h"

namespace nustream::audit {

/// What is claimed of a pair of worlds, and what games in them proved.
struct Bounds {
  std::uint64_t runs;    ///< in each of the two
  double rho;            ///< claimed: the running spend at the game's last step
  double epsilon;        ///< that it comes to at δ, exact Gaussian curve
  double epsilon_bound;  ///< proven from below
  double mu;             ///< √(2ρ)
  double mu_bound;
  double mu_of_filter;      ///< of the matched filters over B itself
  double epsilon_provable;  ///< the most that so many games can prove of any mechanism
  double mu_provable;
  /// Of the canary's steps, those in which it moved a stage by less than is claimed, by the stages' names.
  std::vector<std::pair<std::string, double>> shorter;
  /// Of what is claimed of a stage's ρ, how much the canary's steps came to, by the stages' names.
  std::vector<std::pair<std::string, double>> moved;
  [[nodiscard]] bool exceeded() const noexcept { return epsilon_bound > epsilon || mu_bound > mu; }
  /// Whether more than the claim could have been proven by so many games.
  [[nodiscard]] bool is_provable() const noexcept { return mu <= 0.9 * mu_provable; }
  /// Whether noise of half the size, in all stages, would have shown.
  [[nodiscard]] bool is_shown() const noexcept { return is_provable() && mu_bound >= mu / 2; }
  /// The largest of them.
  [[nodiscard]] double shorter_share() const noexcept;
};

enum class Verdict : std::uint8_t {
  holds,
  exceeded,   ///< more was proven than is claimed, or the mechanism costs more than the settings ask for
  not_shown,  ///< too little was proven to say either: a claim that is false would not have shown
};

/// What one audit found: of the two neighbours that are as far apart as the settings let them be.
struct Finding : Bounds {
  std::uint64_t steps;
  std::uint64_t at;        ///< step of the canary: the first that it takes part in
  bool unprojected;        ///< the settings have a projection, which the games leave out
  double rho_asked;        ///< by the settings, of a stream's whole life
  double rho_limit;        ///< what the mechanism costs in that, all of a table's descents together
  std::uint64_t descents;  ///< of a table, that share its ρ: each costs what is claimed here
  Confidence confidence;   ///< of each of the bounds, over both pairs of worlds
  /// Of replace-one neighbours in models of several stages: one of the two has nothing in the record's place. Half as
  /// far apart, with a fourth of ρ, but in every stage; there are some that opposite records do not move.
  std::optional<Bounds> against_nothing;
  [[nodiscard]] bool is_within_budget() const noexcept { return rho_limit <= rho_asked * (1 + 1e-9); }
  /// Stages of which less than half of μ was played, whatever stands in the record's place.
  [[nodiscard]] std::vector<std::string> unmoved() const;
  [[nodiscard]] Verdict verdict() const;
};

}  // namespace nustream::audit
