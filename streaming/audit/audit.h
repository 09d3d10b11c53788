// `nustream audit`: what an adversary who sees every release can prove about ε, against what is claimed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "audit/finding.h"
#include "config/config.h"
#include "error.h"

namespace nustream::audit {

struct Options {
  std::uint64_t steps = 8;               ///< T of a game
  std::optional<std::uint64_t> at;       ///< step of the canary; empty: the first
  bool at_random = false;                ///< the canary's step is drawn, from the steps of the first pass
  bool along_axis = false;               ///< the canary's gradients lie along one coordinate each
  std::uint64_t passes = 1;              ///< k: the game's stream is read this often, T/k steps each
  std::optional<std::uint64_t> records;  ///< n of a table; empty: 4
  std::optional<std::uint64_t> runs;     ///< in each world; empty: by the claimed ε
  std::uint64_t windows = 1;             ///< of time, in all of which a canary user has records; a claim adds up
  std::uint64_t epochs = 1;  ///< 1 or 2, in both of which a canary user has records, each of T/epochs steps
  bool keeps_counts = true;  ///< the second one begins with the counts and masses of the first
  double delta = 1e-2;
  bool json = false;
  std::string report{};  ///< file for the finding as a page; empty: none
  std::string chart{};   ///< file for a picture of what is claimed and what was proven; empty: none
};

/// Plays the games on two threads under fresh random keys. A table's are the first steps of its descent, of a small
/// table: what one record adds to a sum does not depend on n. Of a mechanism that costs more than is asked for none
/// is played. Failure(configuration) where the settings cannot be played.
[[nodiscard]] Finding audit(const config::Config& config, config::Purpose purpose, const Options& options);

/// Prints the finding; Exit::internal where a bound exceeds the claim, Exit::configuration where too little was
/// proven.
[[nodiscard]] Exit run(const config::Config& config, config::Purpose purpose, const Options& options);

}  // namespace nustream::audit
