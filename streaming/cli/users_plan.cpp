// The plan's part about a user's limits: the settings' own beside others, which of them is best by the guesses, and
// what a user may have spent over several windows of time. How one choice of limits is predicted is in
// limits_reach.cpp; which bounds and minibatch are suggested is in users_suggestion.cpp.
#include "cli/users_plan.h"

#include <fmt/format.h>

#include "nustream/users/over_windows.h"
#include "publish/json_writer.h"
#include "publish/promise.h"

namespace nustream::cli {
namespace {

/// A share in percent, or a dash where the guesses are missing.
std::string share_text(const std::optional<double>& kept) {
  return kept ? fmt::format("{:.1f}%", 100 * *kept) : "-";
}

std::string number_text(const std::optional<double>& number) {
  return number ? fmt::format("{:.3g}", *number) : "-";
}

/// Whether the choice is the best of its kind. It is found by its place in the list, of which it has to be an
/// element.
bool is_suggested(const LimitsReach& one, const UsersPlan& plan) {
  const auto place = static_cast<std::size_t>(&one - plan.reach.data());
  return plan.counted == place || plan.massed == place;
}

/// What stands behind a row of the table. The first row is always that of the settings.
std::string marks_of(const LimitsReach& one, const UsersPlan& plan) {
  std::string marks = &one == plan.reach.data() ? "  <- [users]" : "";
  return is_suggested(one, plan) ? marks + "  <- suggested" : marks;
}

/// The limits as --set takes them.
std::string limits_settings(const users::Limits& limits) {
  // Such as "users.mass=8", or "users.participations=4 users.separation=10".
  if (limits.mass()) return fmt::format("users.mass={:g}", limits.mass()->value());
  return fmt::format("users.participations={} users.separation={}", limits.participation()->times(),
                     limits.participation()->separation());
}

/// Prints the settings that are suggested, and the best limits of each kind with their error.
void print(const UsersSuggestion& suggestion) {
  fmt::print("suggested from the guesses: {}, with one of\n", fmt::join(settings_of(suggestion), " "));
  for (const auto& best : {suggestion.counted, suggestion.massed}) {
    if (best) fmt::print("  {:<44} error {:.3g}\n", limits_settings(best->limits), *best->error());
  }
}

/// Prints what a user with records in several windows may have spent: the promise is about one window.
void print(const std::vector<UsersPlan::OverWindows>& over) {
  fmt::print(
      "the promise is about a user's records within one window; a user with records in several windows is "
      "promised at most");
  const char* before = " ";
  for (const UsersPlan::OverWindows& one : over) {
    // One window is what the promise itself is about.
    if (one.windows == 1) continue;
    fmt::print("{}rho {:g} in {} windows ({})", before, one.spent.rho.value(), one.windows,
               one.spent.is_reached ? "the worst pattern costs that" : "an upper bound");
    before = ", ";
  }
  fmt::print("\n");
}

/// What is predicted of one choice; members without a prediction are left out.
void append_cost(const LimitsReach& one, publish::JsonWriter& json) {
  if (one.kept) json.field("kept", *one.kept);
  if (one.predicted) json.field("predicted_stddev", *one.predicted);
  if (one.cost) {
    json.field("shift", one.cost->shift);
    json.field("between_users", one.cost->between);
    json.field("sampling", one.cost->sampling);
    json.field("start", one.cost->start);
  }
  if (const auto error = one.error()) json.field("predicted_error", *error);
}

/// Writes the best limits of one kind with what they cost; nothing where none is predicted.
void append_best(publish::MemberName name, const std::optional<LimitsReach>& best, publish::JsonWriter& json) {
  if (!best) return;
  const auto object = json.object(name);
  publish::append_limits(best->limits, json);
  append_cost(*best, json);
}

void append_suggestion(const UsersSuggestion& suggestion, publish::JsonWriter& json) {
  const auto object = json.object("suggested_users");
  json.field("minibatch", suggestion.minibatch);
  if (suggestion.clip_norm) json.field("clip_norm", *suggestion.clip_norm);
  if (suggestion.step_size) json.field("step_size", *suggestion.step_size);
  if (suggestion.average_from) json.field("average_from", *suggestion.average_from);
  if (suggestion.row_norm) json.field("row_norm", *suggestion.row_norm);
  append_best("counted", suggestion.counted, json);
  append_best("massed", suggestion.massed, json);
}

}  // namespace

UsersPlan users_plan(const config::Config& config) {
  UsersPlan plan;
  const auto add = [&](const users::Limits& limits) {
    if (const auto reach = reach_of(config, limits)) plan.reach.push_back(*reach);
  };
  // The settings' own limits come first, so that the first row is theirs; they are not shown twice.
  add(*config.descent.users);
  for (const users::Limits& limits : limits_to_compare(config)) {
    if (limits != *config.descent.users) add(limits);
  }
  const auto best = [&](bool with_mass) -> std::optional<std::size_t> {
    const LimitsReach* one = best_of(config, plan.reach, with_mass);
    return one == nullptr ? std::nullopt : std::optional(static_cast<std::size_t>(one - plan.reach.data()));
  };
  plan.counted = best(false);
  plan.massed = best(true);
  plan.suggestion = users_suggestion(config);
  // A promise within windows says nothing about a user who is there in several of them. So the plan does.
  if (config.descent.users->windows()) {
    const Rho limit = config::rho_asked(config.privacy);
    for (const std::uint64_t windows : {1U, 2U, 4U, 12U}) {
      plan.over.push_back(
          {windows, users::over_windows(limit, config.noise.correlation, {}, *config.descent.users, windows)});
    }
  }
  // Without guesses, the table has sensitivities and noise alone.
  if (!user_guess(config)) {
    plan.advice.emplace_back(
        "guess plan.users and plan.user_records (public figures) to see which share of the records each choice "
        "keeps, and which error it leaves");
  }
  // A user counts in one lane, and a partition is a lane. All records of a user come into one partition only where
  // they are keyed by the user.
  if (!config.kafka.brokers.empty() && config.users->column != config::key_column) {
    plan.advice.emplace_back(
        "privacy.user is not \"@key\": of a topic with N partitions whose records are not keyed by the user, "
        "(N - 1)/N count for nothing when it is attached, since a user counts in one partition alone; key the "
        "records by the user, and set privacy.user = \"@key\"");
  }
  if (config.descent.minibatch == 1) {
    plan.advice.emplace_back(
        "descent.minibatch = 1: a user's records are one contribution where they fall into one step; in minibatches "
        "of "
        "1,000 many more of them count under the same limits");
  }
  return plan;
}

void print(const UsersPlan& plan) {
  fmt::print("{:<44}  {:>11}  {:>13}  {:>6}  {:>7}  {:>7}  {:>7}\n", "limits of a user", "sensitivity",
             "noise of step", "kept", "noise", "limits", "error");
  for (const LimitsReach& one : plan.reach) {
    const std::optional<double> cost = one.cost ? std::optional(one.cost->root()) : std::nullopt;
    fmt::print("{:<44}  {:>11.6g}  {:>13.4g}  {:>6}  {:>7}  {:>7}  {:>7}{}\n", publish::words_of(one.limits),
               one.sensitivity.value(), one.step_noise, share_text(one.kept), number_text(one.predicted),
               number_text(cost), number_text(one.error()), marks_of(one, plan));
  }
  // The table is one of guesses, and says so.
  fmt::print("({})\n", what_is_predicted);
  if (plan.suggestion) print(*plan.suggestion);
  if (!plan.over.empty()) print(plan.over);
  for (const std::string& sentence : plan.advice) fmt::print("{}\n", sentence);
}

void append_json(const UsersPlan& plan, publish::JsonWriter& json) {
  {
    const auto limits = json.array("limits");
    for (const LimitsReach& one : plan.reach) {
      const auto object = json.object();
      json.field("sensitivity", one.sensitivity.value());
      publish::append_limits(one.limits, json);
      json.field("step_noise", one.step_noise);
      append_cost(one, json);
      // Left out where it is false: most rows are not.
      if (is_suggested(one, plan)) json.field("suggested", true);
    }
  }
  if (plan.suggestion) append_suggestion(*plan.suggestion, json);
  if (plan.over.empty()) return;
  const auto windows = json.array("windows");
  for (const UsersPlan::OverWindows& over : plan.over) {
    const auto object = json.object();
    json.field("windows", over.windows);
    json.field("rho", over.spent.rho.value());
    json.field("reached", over.spent.is_reached);
  }
}

}  // namespace nustream::cli
