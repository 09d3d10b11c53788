// `nustream audit`: what an adversary who sees every release can prove about ε, against what is claimed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "audit/bounds.h"
#include "config/config.h"
#include "error.h"

namespace nustream::audit {

struct Options {
  std::uint64_t steps = 8;            ///< T of a game
  std::optional<std::uint64_t> at;    ///< step of the canary; empty: the first
  bool at_random = false;             ///< the canary's step is drawn, from the steps of the first pass
  std::uint64_t passes = 1;           ///< k: the game's stream is read this often, T/k steps each
  std::uint64_t records = 4;          ///< n of a table
  std::optional<std::uint64_t> runs;  ///< in each world; empty: by the claimed ε
  double delta = 1e-2;
  bool json = false;
};

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
  /// Of the canary's steps, those in which it moved a stage by less than is claimed, by the stages' names.
  std::vector<std::pair<std::string, double>> shorter;
  [[nodiscard]] bool exceeded() const noexcept { return epsilon_bound > epsilon || mu_bound > mu; }
  /// Whether so much of μ was proven that noise of half the size would have shown.
  [[nodiscard]] bool shown() const noexcept { return mu_bound >= std::min(mu, mu_of_filter) / 2; }
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
  std::uint64_t at;       ///< step of the canary: the first that it takes part in
  bool unprojected;       ///< the settings have a projection, which the games leave out
  double rho_asked;       ///< by the settings, of a stream's whole life
  double rho_limit;       ///< what the mechanism costs in that
  Confidence confidence;  ///< of each of the bounds, over both pairs of worlds
  /// Of replace-one neighbours in models of several stages: one of the two has nothing in the record's place. Half as
  /// far apart, with a fourth of ρ, but in every stage; there are some that opposite records do not move.
  std::optional<Bounds> against_nothing;
  [[nodiscard]] bool is_within_budget() const noexcept { return rho_limit <= rho_asked * (1 + 1e-9); }
  [[nodiscard]] Verdict verdict() const noexcept;
};

/// Plays the games on two threads under fresh random keys. A table's are the first steps of its descent, of a small
/// table: what one record adds to a sum does not depend on n. Failure(configuration) where the settings cannot be
/// played.
[[nodiscard]] Finding audit(const config::Config& config, config::Purpose purpose, const Options& options);

/// Prints the finding; Exit::internal where a bound exceeds the claim, Exit::configuration where too little was
/// proven.
[[nodiscard]] Exit run(const config::Config& config, config::Purpose purpose, const Options& options);

}  // namespace nustream::audit
