#include "config/settings_difference.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "error.h"

namespace nustream::config {
namespace {

/// The values of each setting, by its name as the file has it, in the order of their first appearance.
struct SettingsByName {
  std::vector<std::string> names;
  std::map<std::string, std::vector<std::string>> values;

  void add(const std::string& name, std::string value) {
    std::vector<std::string>& all = values[name];
    if (all.empty()) names.push_back(name);
    all.push_back(std::move(value));
  }
};

/// Where a key of the text stands in a file of settings.
std::string setting_of(std::string_view key) {
  using Name = std::pair<std::string_view, std::string_view>;
  static constexpr auto names = std::to_array<Name>({
      {"format", "stream.format"},
      {"record_bytes_max", "stream.record_bytes_max"},
      {"envelope", "stream.envelope"},
      {"delimiter", "stream.delimiter"},
      {"decimal", "stream.decimal"},
      {"columns", "stream.columns"},
      {"column", "stream.columns"},
      {"intercept", "model.intercept"},
      {"user", "privacy.user"},
      {"nobody", "privacy.user_null"},
      {"user_times", "users.participations"},
      {"user_separation", "users.separation"},
      {"user_mass", "users.mass"},
      {"user_partitioner", "users.partitioner"},
      {"user_lanes", "partitions of kafka.topic"},
      {"loss", "model.loss"},
      {"threshold", "model.threshold"},
      {"level", "model.level"},
      {"bandwidth", "model.bandwidth"},
      {"classes", "model.classes"},
      {"l2", "model.l2"},
      {"estimator", "model.estimator"},
      {"clip_norm", "descent.clip_norm"},
      {"schedule", "descent.schedule"},
      {"step_size", "descent.step_size"},
      {"knee", "descent.knee"},
      {"warm_up_steps", "descent.warm_up_steps"},
      {"cooldown", "descent.cooldown"},
      {"cooldown_to", "descent.cooldown_to"},
      {"momentum", "descent.momentum"},
      {"begins", "noise.restarts"},
      {"projection", "descent.projection"},
      {"radius", "descent.radius"},
      {"average", "descent.average"},
      {"average_from", "descent.average_from"},
      {"average_decay", "descent.average_decay"},
      {"minibatch", "descent.minibatch"},
      {"start", "descent.start"},
      {"every", "release.every"},
      {"batches", "intervals.batches"},
      {"batch_steps", "intervals.batch_steps"},
      {"runs", "intervals.runs"},
      {"memory", "moments.memory"},
      {"correlation", "noise.correlation"},
      {"horizon", "noise.horizon"},
      {"nu", "noise.nu"},
      {"q", "noise.nu"},  // of the rational correlation, whose poles and weights are computed from it
      {"b", "noise.nu"},
      {"generator", "noise.generator"},
      {"sigma", "privacy.rho"},
      {"adjacency", "privacy.adjacency"},
      {"unit", "privacy.protects"},
      {"times", "--passes"},
      {"user_period", "users.period"},
      {"user_times", "users.times"},
      {"user_time_column", "stream.time"},
      {"user_time_unit", "stream.time_unit"},
      {"noise", "--insecure-seed"},
      {"epoch", "--from-start"},
  });
  const auto* const found =
      std::find_if(names.begin(), names.end(), [&](const auto& pair) { return pair.first == key; });
  return std::string(found == names.end() ? key : found->second);
}

/// Of a feature or the target, by the name that it is shown under: its lines come before "intercept".
std::string name_within(const std::string& feature, std::string_view key) {
  return feature + "." + std::string(key);
}

/// One line, and what is behind it; false where it is none.
bool take_line(std::string_view& text, std::string_view& key, std::string_view& value) {
  const std::size_t equals = text.find('=');
  const std::size_t colon = equals == std::string_view::npos ? equals : text.find(':', equals);
  if (colon == std::string_view::npos) return false;
  std::size_t length = 0;
  const std::string_view digits = text.substr(equals + 1, colon - equals - 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  if (error != std::errc() || end != digits.data() + digits.size() || length > text.size() - colon - 1) return false;
  key = text.substr(0, equals);
  value = text.substr(colon + 1, length);
  text.remove_prefix(std::min(colon + 1 + length + 1, text.size()));
  return true;
}

SettingsByName by_name(std::string_view text) {
  SettingsByName all;
  std::string feature;
  bool in_features = true;
  for (std::string_view key, value; take_line(text, key, value);) {
    if (key == "intercept") in_features = false;
    if (in_features && (key == "feature" || key == "target")) {
      feature = std::string(key) + " '" + std::string(value) + "'";
      all.add(feature, "there");
    } else if (in_features && !feature.empty()) {
      all.add(name_within(feature, key), std::string(value));
    } else if (key != "format" || !all.names.empty()) {
      all.add(setting_of(key), std::string(value));
    }
  }
  return all;
}

/// Those that are computed from others, with the ones that they may come from.
bool follows_from_others(const std::string& name, const std::set<std::string>& differing) {
  const auto any = [&](std::initializer_list<const char*> of) {
    return std::any_of(of.begin(), of.end(), [&](const char* each) { return differing.contains(each); });
  };
  const bool noise = any({"noise.correlation", "noise.horizon", "noise.nu"});
  if (name == "noise.nu") {  // where it is not set it is the best one for what is quoted
    return any({"noise.correlation", "noise.horizon", "descent.step_size", "descent.average", "descent.average_from",
                "descent.average_decay"});
  }
  if (name == "beta" || name == "c") return noise;
  if (name == "separation") return any({"--passes"});
  if (name == "displacement") {
    return any({"descent.clip_norm", "privacy.adjacency", "row_norm", "regressor_bound", "residual_bound"});
  }
  if (name == "privacy.rho") return noise || any({"--passes", "separation", "beta", "c", "bands", "height"});
  return false;
}

/// Numbers that stand for a choice say nothing.
bool is_told(const std::string& name) {
  constexpr std::array codes{"transform",          "descent.schedule",
                             "descent.projection", "descent.average",
                             "noise.generator",    "privacy.adjacency",
                             "stream.envelope",    "model.intercept",
                             "privacy.rho",        "unit",
                             "stream.time_unit",   "spread"};
  return std::none_of(codes.begin(), codes.end(), [&](const char* code) { return name.ends_with(code); });
}

std::string difference_of(const std::string& name, const std::vector<std::string>* there,
                          const std::vector<std::string>* here) {
  if (there == nullptr) return name + " (new)";
  if (here == nullptr) return name + " (gone)";
  constexpr std::size_t widest = 24;
  const bool single = there->size() == 1 && here->size() == 1;
  if (!single || !is_told(name) || there->front().size() > widest || here->front().size() > widest) return name;
  return fmt::format("{} ({} there, {} here)", name, there->front(), here->front());
}

}  // namespace

std::vector<std::string> differing_settings(std::string_view there, std::string_view here) {
  const SettingsByName old = by_name(there);
  const SettingsByName now = by_name(here);
  std::vector<std::string> names = now.names;
  for (const std::string& name : old.names) {
    if (!now.values.contains(name)) names.push_back(name);
  }
  const auto values = [](const SettingsByName& all, const std::string& name) {
    const auto found = all.values.find(name);
    return found == all.values.end() ? nullptr : &found->second;
  };
  std::set<std::string> differing;
  for (const std::string& name : names) {
    const auto* const one = values(old, name);
    const auto* const other = values(now, name);
    if (one == nullptr || other == nullptr || *one != *other) differing.insert(name);
  }
  std::vector<std::string> told;
  for (const std::string& name : names) {
    if (!differing.contains(name) || follows_from_others(name, differing)) continue;
    // A feature that is new or gone is one difference, not one for each of its lines.
    const std::size_t dot = name.rfind("'.");
    if (dot != std::string::npos && differing.contains(name.substr(0, dot + 1))) continue;
    told.push_back(difference_of(name, values(old, name), values(now, name)));
  }
  return told;
}

void require_same_settings(std::string_view text, const std::string& digest, const EpochDigests& digests) {
  if (digests.has(digest)) return;
  constexpr const char* next = "resume with the settings that made it, or begin a new epoch with --new-epoch";
  const std::string& here = digests.like(digest);
  const std::vector<std::string> differing = differing_settings(text, digests.text_of(here));
  if (text.empty() || differing.empty()) {
    throw Failure(Exit::data,
                  fmt::format("the state is of another settings digest: {}, not {}; {}", digest, here, next));
  }
  constexpr std::size_t most = 8;
  const std::size_t shown = std::min(differing.size(), most);
  throw Failure(
      Exit::data,
      fmt::format("the state is of other settings (another settings digest): {}{}; {}",
                  fmt::join(differing.begin(), differing.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                  differing.size() > shown ? fmt::format(" and {} more", differing.size() - shown) : "", next));
}

}  // namespace nustream::config
