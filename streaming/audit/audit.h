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
  std::optional<std::uint64_t> at;       ///< step of the canary, counted from 0; empty: the first
  bool at_random = false;                ///< the canary's step is drawn, from the steps of the first pass
  bool along_axis = false;               ///< the canary's gradients lie along one coordinate each
  std::uint64_t passes = 1;              ///< k: how often the game's stream is read, T/k steps each time
  std::optional<std::uint64_t> records;  ///< n of a table; empty: 4
  std::optional<std::uint64_t> runs;     ///< games in each world; empty: as many as the claimed ε needs
  std::uint64_t windows = 1;             ///< windows of time; a canary user has records in all, and claims add up
  std::uint64_t epochs = 1;              ///< 1 or 2, of T/epochs steps each; a canary user has records in both
  bool keeps_counts = true;              ///< the second epoch begins with the counts and masses of the first
  double delta = 1e-2;
  bool json = false;
  std::string report{};  ///< file for the finding as a page; empty: none
  std::string chart{};   ///< file for a picture of what is claimed and what was proven; empty: none
};

/// Plays the games on two threads under fresh random keys. The games of a table play the first steps of its descent,
/// over a table of few records: what one record adds to a sum does not depend on n. No game is played where the
/// mechanism costs more than the settings ask for. Throws Failure(configuration) where the settings cannot be played,
/// and Failure(usage) where the options do not fit the settings.
[[nodiscard]] Finding audit(const config::Config& config, config::Purpose purpose, const Options& options);

/// Prints the finding. Returns Exit::internal where a bound exceeds the claim, or the mechanism costs more than the
/// settings ask for, and Exit::configuration where too little was proven.
[[nodiscard]] Exit run(const config::Config& config, config::Purpose purpose, const Options& options);

/// One HTML file that refers to no other. It shows what was proven of ε and μ against what is claimed, the games, and
/// the command and the settings to copy. It depends on no data: games are played over records of the audit's own.
[[nodiscard]] std::string page(const config::Config& config, const Options& options, const Finding& finding);

/// An SVG file of the same bounds.
[[nodiscard]] std::string chart_file(const config::Config& config, const Options& options, const Finding& finding);

}  // namespace nustream::audit
