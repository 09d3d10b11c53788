// Chooses the estimator of a linear model, descent or running sums, and its settings, for a stream that is known by
// guesses alone. Every number is a function of public guesses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/inference/expected_error.h"
#include "nustream/moments/lane.h"
#include "nustream/privacy/participation.h"

namespace nustream::moments {

/// The settings that are given already, and not to be chosen.
struct Settled {
  std::optional<double> step_size{}, clip_norm{}, nu{};
  std::optional<std::uint64_t> from{};  ///< where the average begins
  std::optional<double> row_norm{}, residual_bound{}, second_share{};
};

/// What is to be estimated, and for how much.
struct Problem {
  inference::StreamGuess guess;
  std::uint64_t records;  ///< number of records that there will be, > 0; each takes part once
  Rho rho;                ///< ρ of all that is released
  privacy::Adjacency adjacency;
  std::uint64_t every;  ///< records from one release of running sums to the next
  bool ends;            ///< whether the noise of running sums may end after `records` records; else it goes on for
                        ///< ever
  Settled settled{};
  bool is_table = false;  ///< the records are those of a table, of which a single release is enough
};

/// The settings of a descent that takes one record a step, and its expected error.
struct DescentChoice {
  StepSize step_size{1};
  ClipNorm clip{1};
  Damping nu{0};
  std::uint64_t from = 0;  ///< the average is over the records from here on
  inference::ExpectedError error{0, 0, 0};
};
/// The descent with the least expected error. Where nothing is settled, it tries step sizes of four a decade below
/// 1/tr H, clip norms of 1, 2, 4 and 8 times residual·√(tr H), and the ν that is best for the last iterate, or for
/// the average. An average may begin at a half, a quarter, a tenth or a twentieth of the records. The earlier it
/// begins, the more of the error of the start it holds, and the less of the error of sampling. Throws as
/// inference::check() does.
[[nodiscard]] DescentChoice best_descent(const Problem& problem, bool average);
[[nodiscard]] inference::DescentDesign descent_design(const Problem& problem, const DescentChoice& choice);

/// The settings of running sums, and their expected error.
struct SumsChoice {
  Radii radii;
  std::vector<StageStart> later{};  ///< further stages, each about the estimate at the time when it begins
  double residual_variance = 1;     ///< weighs the stages (Weighting)
  double second_share = 0.5;        ///< what the second moments may cost, as a share of ρ
  inference::ExpectedError error{0, 0, 0};
};
/// The largest number of recentrings that are tried.
inline constexpr std::size_t most_recentrings = 2;

/// The running sums with the least expected error among those that are recentred this often, at most
/// `most_recentrings` times. Where nothing is settled, it tries R_x of 1, 1.25, 1.6 and 2 times √(tr H) and R_r
/// of 1.5 to 6 times the residual about the start. A recentring comes after a twentieth, a tenth or a quarter of the
/// steps; the first of two comes after a twentieth or a tenth, and the second when there are three times as many. R_r
/// of the later stages is 3 or 4 times `residual`. H has half of ρ; for the best of the sums that are recentred
/// twice, a share of .4 is tried too. Empty where there are fewer than two releases, or too few for so many stages; a
/// single release is enough where it is of all records and nothing is recentred.
[[nodiscard]] std::optional<SumsChoice> best_sums(const Problem& problem, std::size_t recentrings);
/// Whether two recentrings promise less error than one at the same share of ρ for H: half of it, unless another is
/// settled. A share of .4 alone makes no case for another stage.
[[nodiscard]] bool second_recentring_pays(const Problem& problem);
[[nodiscard]] Settings sums_settings(const Problem& problem, const SumsChoice& choice);

}  // namespace nustream::moments
