// The text repeats the noise for each stage, and has neither shares nor kinds. Here both are found from what it has.
#include "config/stage_settings.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace nustream::config {
namespace {

using Values = std::vector<std::string>;

constexpr const char* kind_key = "intervals.kind";
constexpr const char* batches_key = "intervals.batches";
constexpr const char* batch_steps_key = "intervals.batch_steps";
constexpr const char* burn_in_key = "intervals.burn_in";
constexpr const char* either_kind = "none or batch-means";
constexpr const char* count_key = "intervals.count";
constexpr const char* second_clip_key = "intervals.second_moment_clip";
constexpr const char* strength_clip_key = "first_stage.strength_clip";
constexpr const char* residual_clip_key = "intervals.squared_residual_clip";
constexpr const char* status_key = "release.status";

bool is_in(const SettingsByName& all, const char* name) {
  return all.values.contains(name);
}

bool is_of_sums(const SettingsByName& all) {
  return is_in(all, "model.estimator");
}

/// The shortest list that, repeated, is `values`: the setting of one stage where all stages have the same.
Values without_repeats(const Values& values) {
  for (std::size_t length = 1; length < values.size(); ++length) {
    const bool repeats =
        values.size() % length == 0 &&
        std::equal(values.begin() + static_cast<std::ptrdiff_t>(length), values.end(), values.begin());
    if (repeats) return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(length)};
  }
  return values;
}

/// Keeps one correlation of those that all stages repeat, and gives the number of its poles a name of its own.
void join_noise(SettingsByName& all) {
  for (const std::string& name : all.names) {
    if (!name.starts_with("noise.") && name != rows_of_correlation) continue;
    Values& values = all.values.at(name);
    values = without_repeats(values);
  }
  const auto poles = all.values.find("noise.nu");
  if (poles != all.values.end() && poles->second.size() > 1) all.set("noise.poles", {poles->second.front()});
}

/// What the stages cost, in proportion. Empty where there are not as many as `expected`.
std::vector<double> parts_of(const SettingsByName& all, std::size_t expected) {
  const auto sigmas = all.values.find("privacy.rho");
  if (sigmas == all.values.end() || sigmas->second.size() != expected) return {};
  std::vector<double> parts;
  for (const std::string& text : sigmas->second) {
    const double sigma = std::strtod(text.c_str(), nullptr);
    const double part = 1 / (sigma * sigma);
    if (!(part > 0) || !std::isfinite(part)) return {};
    parts.push_back(part);
  }
  return parts;
}

/// Writes the share, and takes `part` off what the others divide.
void take_share(SettingsByName& all, const char* name, double part, double& rest) {
  all.set(name, {fmt::format("{:.6g}", part / rest)});
  rest -= part;
}

/// Puts what all stages cost together in the place of what each costs.
double take_sum(SettingsByName& all, const std::vector<double>& parts) {
  const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
  all.set("privacy.rho", {fmt::format("{:.9g}", sum)});
  return sum;
}

/// The stages of a descent: its own, the first stage, second moments, squared residuals, the count of clipped ones.
void add_shares_of_descent(SettingsByName& all) {
  const bool has_first = is_in(all, "first_stage.clip_norm");
  const std::size_t charged = is_in(all, residual_clip_key) ? 2 : is_in(all, strength_clip_key) ? 1 : 0;
  const bool counts = is_in(all, "privacy.clipped_share");
  const std::vector<double> parts = parts_of(all, 1 + (has_first ? 1U : 0U) + charged + (counts ? 1U : 0U));
  if (parts.empty()) return;
  double rest = take_sum(all, parts);
  all.set("privacy.clipped_share", {"0"});
  if (counts) take_share(all, "privacy.clipped_share", parts.back(), rest);
  const std::size_t at = has_first ? 2 : 1;
  if (charged == 2) take_share(all, "intervals.share", parts[at] + parts[at + 1], rest);
  if (charged == 1) take_share(all, "first_stage.strength_share", parts[at], rest);
  if (has_first) take_share(all, "first_stage.share", parts[1], rest);
}

/// The noised blocks of running sums: second moments and regressors where they are private, the target, and the
/// spread or the smallest eigenvalue.
void add_shares_of_sums(SettingsByName& all) {
  const bool private_rows = all.first("privacy.protects") != "target";
  const bool regressors = private_rows && is_in(all, "[[endogenous]]") && all.first("[[endogenous]]") != "0";
  const std::string spread = all.first(kind_of_sums);
  const bool has_spread = !spread.empty() && spread != "0";
  const bool has_eigenvalue = !has_spread && private_rows && is_in(all, "moments.solve");
  const bool has_beside = has_spread || has_eigenvalue;
  const std::vector<double> parts =
      parts_of(all, 1 + (private_rows ? 1U : 0U) + (regressors ? 1U : 0U) + (has_beside ? 1U : 0U));
  if (parts.empty()) return;
  double rest = take_sum(all, parts);
  if (has_beside) take_share(all, has_spread ? "intervals.share" : "moments.eigenvalue_share", parts.back(), rest);
  if (private_rows) take_share(all, "moments.second_moment_share", parts[0], rest);
  if (regressors) take_share(all, "moments.regressor_share", parts[1], rest);
}

void add_shares(SettingsByName& all) {
  is_of_sums(all) ? add_shares_of_sums(all) : add_shares_of_descent(all);
}

/// Gives the clip norm of second moments the name that it has where they are those of a first stage.
void name_strength(SettingsByName& all) {
  if (!is_in(all, second_clip_key) || is_in(all, residual_clip_key)) return;
  all.set(strength_clip_key, {all.first(second_clip_key)});
  all.erase(second_clip_key);
}

/// The kind of intervals as far as the text tells it.
std::string kind_of(const SettingsByName& all) {
  if (is_of_sums(all)) {
    const std::string spread = all.first(kind_of_sums);
    return spread == "1" ? "residuals" : spread == "2" || spread == "3" ? "sandwich" : "none";
  }
  if (is_in(all, residual_clip_key)) return "sandwich";
  return is_in(all, batches_key) ? "batch-means" : is_in(all, count_key) ? "runs" : "none";
}

/// The kinds of intervals of two texts.
struct Kinds {
  std::string there;
  std::string here;
};

Kinds kinds_of(const SettingsByName& there, const SettingsByName& here, const BesideTexts& beside) {
  Kinds kinds{kind_of(there), beside.intervals.empty() ? kind_of(here) : beside.intervals};
  const bool are_descents = !is_of_sums(there) && !is_of_sums(here);
  if (!are_descents || kinds.there == kinds.here) return kinds;
  // Checkpoints are not in the text, and batches are there for the status alone, too.
  if (kinds.there == "none" && kinds.here == "checkpoints") kinds.there = kinds.here;
  if (kinds.there == "none" && beside.is_table) kinds.there = "none or checkpoints";
  if (kinds.there != "batch-means" || beside.is_table) return kinds;
  const bool is_status = kinds.here == "none" && is_in(here, batches_key);
  kinds.there = is_status ? "none" : either_kind;
  return kinds;
}

/// Whether release.status made batches be kept there and here; the same where that is not known.
std::pair<bool, bool> statuses_of(const SettingsByName& there, const SettingsByName& here, const Kinds& kinds,
                                  const BesideTexts& beside) {
  const bool now = kinds.here == "batch-means" ? beside.tells_status : is_in(here, batches_key);
  if (kinds.there == "sandwich") return {is_in(there, batches_key), now};
  // Without a tail average a status needs no batches. In the text 1 stands for such an average.
  const bool had_none = !is_in(there, batches_key) && there.first("descent.average") == "1";
  return {had_none ? false : now, now};
}

/// Takes out what follows from the kind of intervals. `by_default` is the value that `name` has here unless somebody
/// sets it.
void take_consequence(SettingsByName& there, SettingsByName& here, const char* name, const std::string& by_default) {
  if (is_in(there, name) == is_in(here, name)) return;
  there.erase(name);
  if (here.first(name) == by_default) here.erase(name);
}

/// The batches of a table have no keys but their number; how long they are follows from that and from the burn-in.
void name_batches_of_table(SettingsByName& all) {
  if (!is_in(all, batches_key)) return;
  all.set(count_key, {all.first(batches_key)});
  all.set(burn_in_key, {all.first(batch_steps_key)});
  all.erase(batches_key);
  all.erase(batch_steps_key);
}

/// Names the kind there and here; a key that stands for two of them where the text does not tell which one it was.
void name_kind(SettingsByName& there, SettingsByName& here, const Kinds& kinds) {
  there.erase(kind_of_sums);
  here.erase(kind_of_sums);
  if (kinds.here != "none" || kinds.there != either_kind) {
    there.set(kind_key, {kinds.there});
    here.set(kind_key, {kinds.here});
  } else if (there.first("descent.average") == here.first("descent.average")) {
    // Under another average there would be no batches either way, and the average is the difference.
    there.set(asks_for_batches, {"batches"});
    here.set(asks_for_batches, {"none"});
  }
}

/// Takes out what a kind of intervals has, where the kinds differ, unless it was set here.
void take_consequences(SettingsByName& there, SettingsByName& here, const Kinds& kinds) {
  there.erase(count_key);
  there.erase(burn_in_key);
  here.erase(burn_in_key);
  if (here.first(count_key) == (kinds.here == "runs" ? "10" : "32")) here.erase(count_key);
  for (const char* const clip : {second_clip_key, residual_clip_key}) take_consequence(there, here, clip, "");
  const char* const of_sums = kinds.here == "sandwich" ? "0.333333" : "0.05";
  take_consequence(there, here, "intervals.share", is_of_sums(here) ? of_sums : "0.1");
}

void name_intervals(SettingsByName& there, SettingsByName& here, const BesideTexts& beside) {
  const Kinds kinds = kinds_of(there, here, beside);
  const auto [status_there, status_here] = statuses_of(there, here, kinds, beside);
  const bool is_stream = !beside.is_table && !is_of_sums(there) && !is_of_sums(here);
  if (is_stream && status_there != status_here) {
    there.set(status_key, {status_there ? "true" : "false"});
    here.set(status_key, {status_here ? "true" : "false"});
  }
  name_kind(there, here, kinds);
  take_consequence(there, here, batches_key, "32");
  take_consequence(there, here, batch_steps_key, "64");
  if (beside.is_table) {
    name_batches_of_table(there);
    name_batches_of_table(here);
  }
  if (kinds.there != kinds.here) take_consequences(there, here, kinds);
}

}  // namespace

void join_stages(SettingsByName& there, SettingsByName& here, const BesideTexts& beside) {
  for (SettingsByName* const all : {&there, &here}) {
    name_strength(*all);
    join_noise(*all);
    // Sums are told from descents by the line of the estimator, and shares by the clip norms.
    add_shares(*all);
  }
  name_intervals(there, here, beside);
}

}  // namespace nustream::config
