// Decides whether runs of a descent over one table have forgotten their common start, from the paths of the runs
// alone. These are functions of noisy gradients, and so of what is private already.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "nustream/inference/path_status.h"

namespace nustream::inference {

/// How many means of consecutive iterates stand for the judged steps of a run.
inline constexpr std::size_t stretches_of_a_run = 8;

/// What is seen, and how often as much would be seen of runs that have settled.
struct RunsStatus {
  Verdict verdict;
  /// The largest |t| over the coordinates of the first two cosines over a run's stretches, of which the mean over all
  /// runs is taken: it says that the runs move together (2(m − 1) degrees of freedom for m runs).
  double trend;
  /// The largest ratio over the coordinates of the variance of the runs' levels to that of their two cosines. It is
  /// about 1 where the stretches of a run are independent, and larger where a run remembers its own noise for long.
  double memory;
  /// The probability of another verdict than `settled` for independent normal stretches that are alike.
  double false_alarm = 0.06;
};

/// The status of m ≥ 2 independent runs. Each of `runs` is stretches_of_a_run × d: the means of equally many
/// consecutive iterates, in order, of the later part of a run. The test of movement has a sixth of `false_alarm` and
/// the test of memory has the rest, as path_status() divides it; each is divided among the coordinates (Bonferroni).
///
/// The tests of movement compare runs, which are independent whatever the memory of each is. Where the memory of a
/// descent is as long as its runs, the runs differ more than each of them moves, and the test of memory sees it.
[[nodiscard]] RunsStatus runs_status(std::span<const std::vector<double>> runs, std::size_t dimension,
                                     double false_alarm = 0.06);

}  // namespace nustream::inference
