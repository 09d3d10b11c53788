// `nustream audit`: what an adversary who sees every release can prove about ε, against what is claimed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

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

/// What one audit found.
struct Finding {
  std::uint64_t runs;
  std::uint64_t steps;
  std::uint64_t at;      ///< step of the canary: the first that it takes part in
  bool unprojected;      ///< the settings have a projection, which the games leave out
  double rho;            ///< claimed: the running spend at the game's last step
  double epsilon;        ///< that it comes to at δ, exact Gaussian curve
  double epsilon_bound;  ///< proven from below
  double mu;             ///< √(2ρ)
  double mu_bound;
  double mu_of_filter;      ///< of the matched filter over B itself
  double shorter_share;     ///< of the canary's steps, those in which its gradient was shorter than the clip norm
  double epsilon_provable;  ///< the most that so many games can prove of any mechanism
  Confidence confidence;
  [[nodiscard]] bool holds() const noexcept { return epsilon_bound <= epsilon && mu_bound <= mu; }
};

/// Plays the games on two threads under fresh random keys. A table's are the first steps of its descent, of a small
/// table: what one record adds to a sum does not depend on n. Failure(configuration) where the settings cannot be
/// played.
[[nodiscard]] Finding audit(const config::Config& config, config::Purpose purpose, const Options& options);

/// Prints the finding; Exit::internal where a bound exceeds the claim.
[[nodiscard]] Exit run(const config::Config& config, config::Purpose purpose, const Options& options);

}  // namespace nustream::audit
