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
  std::uint64_t runs;    ///< games in each of the two worlds
  double rho;            ///< claimed: the running spend at the game's last step
  double epsilon;        ///< ε that ρ comes to at δ, by the exact Gaussian curve
  double epsilon_bound;  ///< lower bound of ε that the games proved
  double mu;             ///< √(2ρ)
  double mu_bound;
  double mu_of_filter;      ///< μ that the matched filters over B itself can show
  double epsilon_provable;  ///< the most that this number of games can prove of any mechanism
  double mu_provable;
  /// By stage: the share of the canary's steps in which it moved the stage by less than is claimed.
  std::vector<std::pair<std::string, double>> shorter;
  /// By stage: the share of the claimed ρ that the canary's steps came to.
  std::vector<std::pair<std::string, double>> moved;
  [[nodiscard]] bool exceeded() const noexcept { return epsilon_bound > epsilon || mu_bound > mu; }
  /// Whether this number of games could have proven more than the claim.
  [[nodiscard]] bool is_provable() const noexcept { return mu <= 0.9 * mu_provable; }
  /// Whether noise of half the claimed size, in all stages, would have been found out.
  [[nodiscard]] bool is_shown() const noexcept { return is_provable() && mu_bound >= mu / 2; }
  /// The largest share of `shorter`.
  [[nodiscard]] double shorter_share() const noexcept;
};

enum class Verdict : std::uint8_t {
  holds,
  exceeded,   ///< more was proven than is claimed, or the mechanism costs more than the settings ask for
  not_shown,  ///< too little was proven to tell: a claim that is false would not have shown
};

/// What one audit found about the two neighbours that are as far apart as the settings let them be.
struct Finding : Bounds {
  std::uint64_t steps;
  std::uint64_t at;        ///< step of the canary: the first that it takes part in
  bool unprojected;        ///< the settings have a projection, which the games leave out
  double rho_asked;        ///< what the settings allow for a stream's whole life
  double rho_limit;        ///< what the mechanism costs in that life, all descents of a table together
  std::uint64_t descents;  ///< how many of a table's descents share its ρ; the claim here is that of each one
  Confidence confidence;   ///< of each bound; both pairs of worlds together keep the level
  /// The second pair of worlds, where neighbours are replace-one and the model has several stages: one of the two has
  /// nothing in the record's place. They are half as far apart and cost a fourth of ρ, but differ in every stage,
  /// while opposite records leave some stages (such as second moments) where they are.
  std::optional<Bounds> against_nothing;
  [[nodiscard]] bool is_within_budget() const noexcept { return rho_limit <= rho_asked * (1 + 1e-9); }
  /// The stages that showed less than a fourth of the claimed ρ, which is half of μ, in every pair of worlds.
  [[nodiscard]] std::vector<std::string> unmoved() const;
  [[nodiscard]] Verdict verdict() const;
};

/// The reasons why the claim was not shown, as sentences; empty where all was shown.
[[nodiscard]] std::vector<std::string> what_was_not_shown(const Finding& finding);

/// The verdict as lines, each with its newline.
[[nodiscard]] std::string verdict_text(const Finding& finding);

}  // namespace nustream::audit
