// Recognises the features of one key by their names, which are made of the column's name and what the feature is of:
// city=a, city=b and city=other, city#0 and city#1, age[0,18) and age[18,65).
#include "config/joined_features.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nustream::config {
namespace {

/// A key of the file that makes many features, and what stands in the place of their differing ends.
struct Map {
  const char* key;
  const char* ending;
};
// The endings are in no name of a feature, so that the feature 'city' may stand beside the buckets of 'city'.
constexpr Map maps[] = {{"one_hot", "=…'"}, {"hash", "#…'"}, {"bins", "[…)'"}};

/// The numbers that the text has for these transforms.
constexpr const char* of_identity = "0";
constexpr const char* of_indicator = "5";
constexpr const char* of_label = "8";
constexpr const char* of_other = "10";
constexpr const char* of_bucket = "11";
constexpr const char* of_bin = "12";

/// The only value of `name`; "" where there is none, or where there are several.
std::string value_of(const SettingsByName& all, const std::string& name) {
  const auto found = all.values.find(name);
  return found == all.values.end() || found->second.size() != 1 ? std::string() : found->second.front();
}

/// What a feature belongs to.
struct Group {
  std::string title;    ///< "feature 'city#…'"; empty: it stands for itself
  bool is_sure = true;  ///< false for an indicator, which may have been written as one
};

/// The title where the name ends with `ending`, which the map's own takes the place of; else "".
std::string titled(const std::string& feature, const std::string& ending, const Map& map) {
  const std::string whole = ending + "'";
  if (!feature.ends_with(whole)) return {};
  return feature.substr(0, feature.size() - whole.size()) + map.ending;
}

Group group_of(const SettingsByName& all, const std::string& feature) {
  const std::string transform = value_of(all, feature + ".transform");
  if (transform == of_indicator) return {titled(feature, "=" + value_of(all, feature + ".equals"), maps[0]), false};
  if (transform == of_other) return {titled(feature, "=other", maps[0])};
  if (transform == of_bucket) return {titled(feature, "#" + value_of(all, feature + ".bucket"), maps[1])};
  if (transform != of_bin) return {};
  const std::size_t edges = feature.rfind('[');
  return {edges == std::string::npos ? std::string()
                                     : titled(feature, feature.substr(edges, feature.size() - edges - 1), maps[2])};
}

bool is_feature(const std::string& name) {
  return name.starts_with("feature '") && name.ends_with("'");
}

/// The features of a text with their groups.
using Grouped = std::vector<std::pair<std::string, Group>>;

Grouped grouped(const SettingsByName& all) {
  Grouped features;
  for (const std::string& name : all.names) {
    if (is_feature(name)) features.emplace_back(name, group_of(all, name));
  }
  return features;
}

/// The keys whose values a key of the file gives to all the features that it makes.
constexpr const char* shared_keys[] = {".column", ".center", ".scale", ".clamp"};

/// Adds the titles whose features differ in what one key would give to all of them. They were written one by one.
void add_uneven(const SettingsByName& all, const Grouped& features, std::set<std::string>& uneven) {
  std::map<std::string, std::string> first;
  for (const auto& [feature, group] : features) {
    if (group.title.empty()) continue;
    for (const char* const key : shared_keys) {
      const std::string value = value_of(all, feature + key);
      if (first.try_emplace(group.title + key, value).first->second != value) uneven.insert(group.title);
    }
  }
}

/// Adds the titles of `features` that several of them have, or that one has which no other key makes.
void add_titles(const Grouped& features, std::set<std::string>& titles) {
  std::set<std::string> seen;
  for (const auto& [feature, group] : features) {
    if (group.title.empty()) continue;
    if (group.is_sure || !seen.insert(group.title).second) titles.insert(group.title);
  }
}

/// What the features of one title come to.
struct Joined {
  std::vector<std::string> texts;
  std::vector<std::string> edges;
  std::string buckets;
  bool has_other = false;
};

/// "[0, 18, 65]", in quotes where they are texts.
std::string list_of(const std::vector<std::string>& values, bool are_texts) {
  return are_texts ? fmt::format("[\"{}\"]", fmt::join(values, "\", \""))
                   : fmt::format("[{}]", fmt::join(values, ", "));
}

void join(const SettingsByName& all, const std::string& feature, Joined& joined) {
  const std::string transform = value_of(all, feature + ".transform");
  joined.has_other = joined.has_other || transform == of_other;
  joined.buckets = value_of(all, feature + ".buckets");
  if (transform == of_indicator) joined.texts.push_back(value_of(all, feature + ".equals"));
  if (transform != of_bin) return;
  if (joined.edges.empty()) joined.edges.push_back(value_of(all, feature + ".from"));
  joined.edges.push_back(value_of(all, feature + ".below"));
}

/// Adds what the file has for the title, as far as the key has it.
void add_joined(const std::string& title, Joined joined, SettingsByName& out) {
  // Bins that are open on both sides are most likely those of other = true.
  if (joined.edges.size() > 3 && joined.edges.front() == "-inf" && joined.edges.back() == "inf") {
    joined.has_other = true;
    joined.edges = {joined.edges.begin() + 1, joined.edges.end() - 1};
  }
  if (!joined.buckets.empty()) return out.add(title + ".hash", joined.buckets);
  const bool are_bins = !joined.edges.empty();
  out.add(title + (are_bins ? ".bins" : ".one_hot"), list_of(are_bins ? joined.edges : joined.texts, !are_bins));
  out.add(title + ".other", joined.has_other ? "true" : "false");
}

/// The text's entries, where those of features with one of the titles are joined. The values that all of them share,
/// such as the scale, are those of the first.
SettingsByName joined(const SettingsByName& all, const Grouped& features, const std::set<std::string>& titles) {
  std::map<std::string, Joined> groups;
  std::map<std::string, std::string> title_of;
  for (const auto& [feature, group] : features) {
    if (!titles.contains(group.title)) continue;
    title_of.emplace(feature, group.title);
    join(all, feature, groups[group.title]);
  }
  SettingsByName out;
  for (const std::string& name : all.names) {
    const std::size_t dot = name.rfind("'.");
    const auto owner = title_of.find(dot == std::string::npos ? name : name.substr(0, dot + 1));
    if (owner == title_of.end()) {
      for (const std::string& value : all.values.at(name)) out.add(name, value);
    } else if (is_feature(name) && !out.values.contains(owner->second)) {
      out.add(owner->second, "there");
      add_joined(owner->second, groups.at(owner->second), out);
      for (const char* const key : shared_keys) out.add(owner->second + key, value_of(all, name + key));
    }
  }
  return out;
}

/// Gives the labels of the target the name of their key. The text says in two places that there are labels.
void name_labels(SettingsByName& all) {
  SettingsByName out;
  for (const std::string& name : all.names) {
    const std::vector<std::string>& values = all.values.at(name);
    if (name.starts_with("target '") && name.ends_with("'.label")) {
      out.add("model.labels", list_of(values, true));
    } else if (name.starts_with("target '") && name.ends_with("'.transform") && values.front() == of_label) {
      out.add(name, of_identity);
    } else {
      for (const std::string& value : values) out.add(name, value);
    }
  }
  all = std::move(out);
}

/// What an entry says of a feature, without the feature's name: "'.buckets (8 there, 16 here)"; "" for other entries.
std::string_view said_of_feature(std::string_view entry) {
  if (!entry.starts_with("feature '")) return {};
  const std::size_t within = entry.rfind("'.");
  const std::size_t whole = entry.rfind("' (");
  const std::size_t end = within != std::string_view::npos ? within : whole;
  return end == std::string_view::npos ? std::string_view() : entry.substr(end);
}

}  // namespace

void join_features(SettingsByName& there, SettingsByName& here) {
  const Grouped old = grouped(there);
  const Grouped now = grouped(here);
  std::set<std::string> titles;
  add_titles(old, titles);
  add_titles(now, titles);
  std::set<std::string> uneven;
  add_uneven(there, old, uneven);
  add_uneven(here, now, uneven);
  for (const std::string& title : uneven) titles.erase(title);
  there = joined(there, old, titles);
  here = joined(here, now, titles);
  name_labels(there);
  name_labels(here);
}

std::string told_name(const std::string& name) {
  for (const Map& map : maps) {
    const std::size_t at = name.find(map.ending);
    if (at == std::string::npos || !name.starts_with("feature '")) continue;
    const std::string within = name.substr(at + std::string_view(map.ending).size());
    // The whole of a key that is new or gone is told by the key.
    return name.substr(0, at) + "'." + (within.empty() ? map.key : within.substr(1));
  }
  return name;
}

std::vector<std::string> with_likes_together(const std::vector<std::string>& told) {
  constexpr std::ptrdiff_t many = 4;
  std::vector<std::string> together;
  std::set<std::string_view> said;
  for (const std::string& entry : told) {
    const std::string_view what = said_of_feature(entry);
    const auto says_it = [&](const std::string& other) { return said_of_feature(other) == what; };
    const std::ptrdiff_t likes = what.empty() ? 1 : std::ranges::count_if(told, says_it);
    if (likes < many) {
      together.push_back(entry);
    } else if (said.insert(what).second) {
      together.push_back(fmt::format("{} and likewise {} other features", entry, likes - 1));
    }
  }
  return together;
}

}  // namespace nustream::config
