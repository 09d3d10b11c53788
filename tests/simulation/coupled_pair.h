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
  std::vector<std::uint64_t> stops;  ///< the steps that the record takes part in
  Fate fate;
  Shown shown;
  Shifts shifts;
  std::uint64_t steps = 0;  ///< that were taken: as far as horizon and budget let
  bool moved = false;       ///< the record had a gradient, or its neighbour
  bool as_file = false;
  bool beside = false;  ///< they differ in a key or header alone
  bool inside = false;  ///< a slice between two commits holds it, and does not begin with its step
};

[[nodiscard]] Pair draw_pair(const World& world, std::uint64_t seed, bool as_file);

/// A few steps, the last one of the run among them.
[[nodiscard]] std::vector<std::uint64_t> draw_commits(std::mt19937_64& random, const World& world);

/// One in three processes dies before its commit.
[[nodiscard]] Fate draw_fate(std::mt19937_64& random, std::vector<std::uint64_t> commits);

/// How near the couplings come to the claims. Far away from them, a claim too small would not show.
struct LargestShares {
  double of_sensitivity = 0;               ///< ‖C(z' − z)‖ of a stage, over all steps
  std::map<std::string, double> of_spend;  ///< ρ when the run ends, by the correlation's name
};

/// Empty, or by how much the coupling costs more than is claimed: a stage more than its sensitivity, or all stages
/// together, after any number of steps, more than the running spend; or that more than what is asked for.
[[nodiscard]] std::string above_claim(const Settings& settings, const Claims& claims, const Shifts& shifts,
                                      std::uint64_t steps, LargestShares& shares);
[[nodiscard]] std::string above_claim(const World& world, const Pair& pair, LargestShares& shares);

}  // namespace nustream::tests
