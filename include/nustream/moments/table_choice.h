// Chooses between a descent over a whole table and the sums of the table, for a linear model that is known by guesses
// alone. It is the counterpart of choice.h, which is about streams.
#pragma once

#include <cstdint>
#include <optional>

#include "nustream/base/units.h"
#include "nustream/inference/expected_error.h"
#include "nustream/moments/choice.h"

namespace nustream::moments {

/// The settings of a descent each of whose steps takes all records, with independent noise, and its expected error.
struct TableDescentChoice {
  StepCount steps{1};
  StepSize step_size{1};
  ClipNorm clip{1};
  inference::ExpectedError error{0, 0, 0};
};

/// Which of those that are to be chosen are given already, beside those of Problem::settled.
struct TableSettled {
  std::optional<std::uint64_t> steps{};
};

/// The last iterate with the least expected error (DP-GD, Lemma 2.3, with the pull that clipping leaves). Where
/// nothing is settled, it tries up to 4,096 steps, each time half as many again, step sizes of a sixteenth to 1 times
/// 1/λ_max, and clip norms of 1, 2, 4 and 8 times residual·√(tr H). `problem.records` is the number of rows; `every`
/// and `ends` do not count. Throws as inference::check() does.
[[nodiscard]] TableDescentChoice best_table_descent(const Problem& problem, const TableSettled& settled = {});

/// The sums of all rows, released once, with the least expected error: best_sums() of a single release.
[[nodiscard]] SumsChoice best_table_sums(Problem problem);

}  // namespace nustream::moments
