// Searches limits, bounds and a minibatch by the guesses of [plan]. The bounds and the minibatch come first, by
// rules; with them set, all limits of limits_to_compare() are predicted, and the best of each kind is taken.
#include "cli/users_suggestion.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace nustream::cli {
namespace {

constexpr double steps_of_a_descent = 400;
constexpr double step_size_suggested = 0.1;

/// The unit of the last one of `digits` significant digits of a value.
double unit_of(double value, int digits) {
  return std::pow(10, std::floor(std::log10(value)) + 1 - digits);
}

/// A bound with two digits, rounded up so that it still lets in what it is for.
double bound_of(double value) {
  // For example 3.14 becomes 3.2, and 0.0312 becomes 0.032. The 1e-9 keeps a value with two digits from being raised.
  const double unit = unit_of(value, 2);
  return unit * std::ceil(value / unit - 1e-9);
}

/// Sets minibatch, clip norm, step size and the beginning of an average by the rules of UsersSuggestion, in `config`
/// as well, so that limits are then compared under them.
void suggest_for_descent(const inference::UserGuess& guess, config::Config& config, UsersSuggestion& suggestion) {
  // For example 3,740 records a step become 4,000.
  const double minibatch = guess.users * guess.records / steps_of_a_descent;
  // One significant digit: a guess is no better than that.
  suggestion.minibatch =
      minibatch < 1
          ? 1
          : static_cast<std::uint64_t>(std::round(minibatch / unit_of(minibatch, 1)) * unit_of(minibatch, 1));
  config.descent.minibatch = suggestion.minibatch;
  const double visit = inference::long_visit(guess, static_cast<double>(suggestion.minibatch));
  suggestion.clip_norm = bound_of(visit * guess.residual);
  config.descent.clip = ClipNorm{*suggestion.clip_norm};
  // `config` gets the same values, so that the limits below are compared under what is suggested.
  suggestion.step_size = step_size_suggested;
  config.descent.schedule = descent::Schedule(descent::Constant{StepSize{step_size_suggested}});
  if (config.descent.averaging.kind == descent::Averaging::Kind::tail) {
    const double steps = guessed_steps(guess, suggestion.minibatch);
    suggestion.average_from = static_cast<std::uint64_t>(steps / 3);
    config.descent.averaging.from = *suggestion.average_from;
  }
}

/// Sets the bound of what a user adds in one step: a long visit, whose rows have a squared norm of about `dimension`
/// each.
void suggest_for_sums(const inference::UserGuess& guess, config::Config& config, UsersSuggestion& suggestion) {
  const double visit = inference::long_visit(guess, static_cast<double>(suggestion.minibatch));
  suggestion.row_norm = bound_of(std::sqrt(visit * guess.dimension));
  config.moments->stages.front().radii.inputs = *suggestion.row_norm;
}

/// k or W.
double size_of(const users::Limits& limits) {
  return limits.mass() ? limits.mass()->value() : static_cast<double>(limits.participation()->times());
}

/// A copy of the best choice, since the list that it is in ends with the caller.
std::optional<LimitsReach> chosen(const config::Config& config, const std::vector<LimitsReach>& reach,
                                  bool with_mass) {
  const LimitsReach* best = best_of(config, reach, with_mass);
  return best == nullptr ? std::nullopt : std::optional(*best);
}

}  // namespace

std::vector<users::Limits> limits_to_compare(const config::Config& config) {
  const auto guess = user_guess(config);
  const std::optional<users::Windows>& windows = config.descent.users->windows();
  std::vector<users::Limits> limits;
  for (const std::uint64_t times : {1U, 2U, 4U, 8U, 16U}) {
    limits.emplace_back(privacy::Participation{times, 1}, std::nullopt, windows);
    // Without guesses, nobody knows how long the stream is; and one contribution has no other to be apart from.
    if (!guess || times == 1) continue;
    const auto steps = static_cast<std::uint64_t>(guessed_steps(*guess, config.descent.minibatch));
    for (const std::uint64_t parts : {10U, 2U}) {
      const std::uint64_t apart = steps / (parts * times);
      if (apart > 1) limits.emplace_back(privacy::Participation{times, apart}, std::nullopt, windows);
    }
  }
  for (const double mass : {1.0, 2.0, 4.0, 8.0, 16.0}) limits.emplace_back(std::nullopt, Mass{mass}, windows);
  return limits;
}

const LimitsReach* best_of(const config::Config& config, std::span<const LimitsReach> reach, bool with_mass) {
  const auto guess = user_guess(config);
  // Twice the visits of an average user: records are divided by the length of a visit.
  const double most = guess ? 2 * guess->records / guess->burst : 0;
  const LimitsReach* best = nullptr;
  for (const LimitsReach& one : reach) {
    if (one.limits.mass().has_value() != with_mass || !one.error() || size_of(one.limits) > most) continue;
    if (best == nullptr || *one.error() < *best->error()) best = &one;
  }
  return best;
}

std::optional<UsersSuggestion> users_suggestion(const config::Config& config) {
  const auto guess = user_guess(config);
  const bool is_plain =
      config.descent.momentum == 0 && std::holds_alternative<descent::Constant>(config.descent.schedule.family());
  if (!guess || (!config.moments && !is_plain)) return std::nullopt;
  // A copy with the suggested settings, under which all limits are predicted.
  config::Config asked = config;
  UsersSuggestion suggestion{.minibatch = config.descent.minibatch};
  config.moments ? suggest_for_sums(*guess, asked, suggestion) : suggest_for_descent(*guess, asked, suggestion);
  std::vector<LimitsReach> reach;
  for (const users::Limits& limits : limits_to_compare(asked)) {
    if (const auto one = reach_of(asked, limits)) reach.push_back(*one);
  }
  suggestion.counted = chosen(asked, reach, false);
  suggestion.massed = chosen(asked, reach, true);
  return suggestion;
}

std::vector<std::string> settings_of(const UsersSuggestion& suggestion) {
  std::vector<std::string> settings;
  if (suggestion.row_norm) settings.push_back(fmt::format("moments.row_norm={:g}", *suggestion.row_norm));
  if (suggestion.clip_norm) {
    settings.push_back(fmt::format("descent.minibatch={}", suggestion.minibatch));
    settings.push_back(fmt::format("descent.clip_norm={:g}", *suggestion.clip_norm));
  }
  if (suggestion.step_size) settings.push_back(fmt::format("descent.step_size={:g}", *suggestion.step_size));
  if (suggestion.average_from) settings.push_back(fmt::format("descent.average_from={}", *suggestion.average_from));
  return settings;
}

}  // namespace nustream::cli
