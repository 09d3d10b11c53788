// Two streams that differ in one record, drawn from a seed, and the shifts of the noise that hide it.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "coupled_run.h"
#include "nustream/record/batch.h"

namespace nustream::tests {

/// Two streams that differ in one record, what the first one shows, and the shifts that hide the record in the
/// second.
struct Pair {
  Texts here;
  Texts there;
  record::RowBatch rows;
  record::RowBatch other;
  std::vector<std::uint64_t> stops;  ///< the steps in which the record takes part
  Fate fate;
  Shown shown;
  Shifts shifts;
  std::uint64_t steps = 0;  ///< the number of steps taken: as far as horizon and budget allow
  bool moved = false;       ///< whether the record or its neighbour had a gradient
  bool as_file = false;
  bool beside = false;  ///< whether the records differ in a key or header alone
  bool inside = false;  ///< whether a slice between two commits holds the record and does not begin with its step
};

[[nodiscard]] Pair draw_pair(const World& world, std::uint64_t seed, bool as_file);

/// Draws a few steps to commit at, the last step of the run among them.
[[nodiscard]] std::vector<std::uint64_t> draw_commits(std::mt19937_64& random, const World& world);

/// Draws when the processes commit and die; one in three dies before its commit.
[[nodiscard]] Fate draw_fate(std::mt19937_64& random, std::vector<std::uint64_t> commits);

/// How near the couplings come to the claims. If all of them stayed far below a claim, a claim that is too small
/// would not show.
struct LargestShares {
  /// The largest ‖C(z' − z)‖ of a stage over all steps, as a share of its sensitivity.
  double of_sensitivity = 0;
  /// Ρ when the run ends as a share of the claim, by the name of the correlation.
  std::map<std::string, double> of_spend;
};

/// Says by how much the coupling costs more than is claimed; empty where it does not. It may cost more in a stage
/// than the stage's sensitivity, in all stages together after any number of steps more than the running spend, or in
/// all more than what the settings ask for.
[[nodiscard]] std::string above_claim(const Settings& settings, const Claims& claims, const Shifts& shifts,
                                      std::uint64_t steps, LargestShares& shares);
[[nodiscard]] std::string above_claim(const World& world, const Pair& pair, LargestShares& shares);

}  // namespace nustream::tests
