// What `nustream plan` predicts of one choice of a user's limits, from settings and public guesses alone.
#pragma once

#include <optional>

#include "config/mechanism.h"
#include "nustream/inference/limits_cost.h"
#include "nustream/users/limits.h"

namespace nustream::cli {

/// One choice of limits, under the budget that the settings ask for.
struct LimitsReach {
  users::Limits limits;
  Sensitivity sensitivity;
  double step_noise;           ///< σΔ/m: seed noise of one entry of a step's mean gradient
  std::optional<double> kept;  ///< share of the records that count; empty without guesses
  /// Standard deviation that the noise leaves in a coefficient of what is quoted: of the average where there is one,
  /// else of the last iterate; of the solved sums. Empty where it is not computed.
  std::optional<double> predicted;
  std::optional<inference::LimitsCost> cost;  ///< what limits and bounds cost beside it; empty without guesses
  /// The root mean square of both together, in one coefficient.
  [[nodiscard]] std::optional<double> error() const;
};

/// The guesses of [plan]; empty where it has neither users nor user_records. Where [plan] does not say, the residual
/// and the distance are 1, and half of the residual's variance is between users.
[[nodiscard]] std::optional<inference::UserGuess> user_guess(const config::Config& config);
/// The steps that such users' records make in a minibatch's length each.
[[nodiscard]] double guessed_steps(const inference::UserGuess& guess, std::uint64_t minibatch);

/// The reach of these limits under the other settings; empty where the mechanism does not exist with them.
[[nodiscard]] std::optional<LimitsReach> reach_of(const config::Config& config, const users::Limits& limits);

}  // namespace nustream::cli
