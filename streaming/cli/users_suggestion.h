// Which limits, bounds and minibatch `nustream plan` suggests where the unit of privacy is the user. They follow from
// public guesses alone.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/limits_reach.h"
#include "config/config.h"

namespace nustream::cli {

/// Settings by the guesses. The bound of a contribution lets in a long visit (inference::long_visit()) whose rows
/// have their usual length and residual. A descent takes some 400 steps: then a step gathers many of a user's
/// records, and a step size of .1 still forgets the start within the first third, after which the average begins,
/// where only a fifth of the records counts. The limits are those of limits_to_compare() whose predicted error is
/// least.
struct UsersSuggestion {
  std::uint64_t minibatch;                      ///< of running sums: release.every, as set
  std::optional<double> clip_norm{};            ///< of a descent
  std::optional<double> step_size{};            ///< of a descent
  std::optional<std::uint64_t> average_from{};  ///< of a descent with a tail average
  std::optional<double> row_norm{};             ///< of running sums
  std::optional<LimitsReach> counted{};         ///< the best (k, b), with these settings
  std::optional<LimitsReach> massed{};          ///< the best mass, with these settings
};

/// Empty without guesses, and for a descent with momentum or whose step sizes change.
[[nodiscard]] std::optional<UsersSuggestion> users_suggestion(const config::Config& config);

/// The suggestion as settings of `--set`: all of them but the limits.
[[nodiscard]] std::vector<std::string> settings_of(const UsersSuggestion& suggestion);

/// Limits to compare: (k, b) for k = 1, 2, 4, 8, 16, with b = 1 and with the k contributions spread over a tenth and
/// over half of the guessed stream, and masses 1, 2, 4, 8, 16.
[[nodiscard]] std::vector<users::Limits> limits_to_compare(const config::Config& config);

/// The limits whose predicted error is least, among those with or without a mass; nullptr where none is predicted.
/// They are at most twice as large as the number of visits of an average user (k or W). Larger limits serve those
/// with most records alone, about whom the guesses say least.
[[nodiscard]] const LimitsReach* best_of(const config::Config& config, std::span<const LimitsReach> reach,
                                         bool with_mass);

}  // namespace nustream::cli
