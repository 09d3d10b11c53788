// Two streams that differ in one record, drawn from a seed, and the shifts of the noise that hide it.
#pragma once

#include <cstdint>
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
  bool moved = false;  ///< the record had a gradient, or its neighbour
  bool as_file = false;
};

[[nodiscard]] Pair draw_pair(const World& world, std::uint64_t seed, bool as_file);

/// One in three processes dies before its commit.
[[nodiscard]] Fate draw_fate(std::mt19937_64& random, std::vector<std::uint64_t> commits);

/// Empty, or by how much the coupling costs more than is claimed.
[[nodiscard]] std::string above_claim(const World& world, const Pair& pair, double& largest_share);

}  // namespace nustream::tests
