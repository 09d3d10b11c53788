#include "config/settings_difference.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/settings_tree.h"
#include "error.h"
#include "nustream/noise/rational.h"

namespace nustream::config {
namespace {

/// The values of each setting by the name that it has in the file, in the order in which the names first come.
struct SettingsByName {
  std::vector<std::string> names;
  std::map<std::string, std::vector<std::string>> values;

  void add(const std::string& name, std::string value) {
    std::vector<std::string>& all = values[name];
    if (all.empty()) names.push_back(name);
    all.push_back(std::move(value));
  }
};

// A correlation that is kept as a matrix has a hash of its rows in the text, which follow from the kind and its
// numbers.
constexpr const char* rows_of_correlation = "rows of noise.correlation";

/// The keys of the canonical text, and the setting in a file that each stands for.
constexpr auto setting_names = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"format", "stream.format"},
    {"record_bytes_max", "stream.record_bytes_max"},
    {"envelope", "stream.envelope"},
    {"delimiter", "stream.delimiter"},
    {"decimal", "stream.decimal"},
    {"framing", "stream.framing"},
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
    {"clipped", "privacy.clipped_share"},
    {"clipped_every", "release.every"},
    {"memory", "moments.memory"},
    {"correlation", "noise.correlation"},
    {"horizon", "noise.horizon"},
    {"rows", rows_of_correlation},
    {"nu", "noise.nu"},
    {"q", "noise.nu"},  // of the rational correlation, whose poles follow from ν
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
    {"stop", "descent.horizon"},
});

std::string setting_of(std::string_view key) {
  const auto* const found =
      std::find_if(setting_names.begin(), setting_names.end(), [&](const auto& pair) { return pair.first == key; });
  return std::string(found == setting_names.end() ? key : found->second);
}

/// The name of a key of a feature or the target, by the name that it is shown under. Such lines come before
/// "intercept".
std::string name_within(const std::string& feature, std::string_view key) {
  return feature + "." + std::string(key);
}

/// Whether a key is skipped. The weights of the rational correlation's poles say the same as the poles. The rule by
/// which an epoch begins need not be repeated by whoever resumes the epoch.
bool is_passed_over(std::string_view key) {
  return key == "b" || key == "epoch";
}

/// The name of a key of a weight or an exposure, as its section has it.
std::string name_of_factor(const std::string& section, std::string_view key) {
  if (key == section) return key == "exposure" ? section + ".log" : section;
  return section + "." + std::string(key == "most" ? "max" : key);
}

/// The clamp with these bounds, as in "[0, 30]"; "none" where there is none.
std::string clamp_of(const std::string& lower, const std::string& upper) {
  return lower == "-inf" && upper == "inf" ? "none" : "[" + lower + ", " + upper + "]";
}

/// Takes one line off the text; false where it does not begin with one.
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

/// Takes the lines of the text in their order: first those of the features and the target, and then those from
/// "intercept" on, among which a weight and an exposure have lines of their own.
class Lines {
 public:
  void add(std::string_view key, const std::string& value) {
    if (key == "intercept") in_features_ = false;
    if (in_features_ && (key == "feature" || key == "target")) return begin_feature(key, value);
    if (in_features_ && !feature_.empty()) return add_of_feature(key, value);
    if (!in_features_ && (key == "weight" || key == "exposure")) factor_ = key;
    if (key == "record_bytes_max") factor_.clear();
    if (!factor_.empty()) return all_.add(name_of_factor(factor_, key), value);
    const bool is_first_format = key == "format" && all_.names.empty();
    if (!is_passed_over(key) && !is_first_format) all_.add(setting_of(key), value);
  }
  [[nodiscard]] SettingsByName all() && { return std::move(all_); }

 private:
  void begin_feature(std::string_view key, const std::string& value) {
    feature_ = std::string(key) + " '" + value + "'";
    all_.add(feature_, "there");
  }
  void add_of_feature(std::string_view key, const std::string& value) {
    if (key == "lower") {
      lower_ = value;
    } else if (key == "upper") {
      all_.add(name_within(feature_, "clamp"), clamp_of(lower_, value));
    } else {
      all_.add(name_within(feature_, key), value);
    }
  }

  SettingsByName all_;
  std::string feature_;
  std::string lower_;
  std::string factor_;  // weight or exposure, within its lines
  bool in_features_ = true;
};

SettingsByName by_name(std::string_view text) {
  Lines lines;
  for (std::string_view key, value; take_line(text, key, value);) lines.add(key, std::string(value));
  return std::move(lines).all();
}

using Values = std::vector<std::string>;

/// A setting that the text holds as a number, with the names that a file has for the numbers.
struct Code {
  std::string_view setting;
  std::vector<const char*> names;
};
const std::vector<const char*> time_units{"none", "seconds", "milliseconds", "microseconds"};
const Code codes[] = {
    {"transform",
     {"identity", "log", "log1p", "sqrt", "square", "indicator", "hour", "day_of_week", "labels", "", "other", "hash",
      "bins"}},
    {"descent.schedule", {"constant", "inverse-sqrt", "inverse", "warm-up", "piecewise", "cooldown"}},
    {"descent.projection", {"none", "ball", "box"}},
    {"descent.average", {"last", "tail", "exponential"}},
    {"noise.generator", {"automatic", "direct", "fft", "recurrent", "tree", "dense"}},
    {"privacy.adjacency", {"zero-out", "replace-one"}},
    {"stream.envelope", {"none", "debezium"}},
    {"model.intercept", {"false", "true"}},
    {"stream.time_unit", time_units},
    {"'.unit", time_units},
};

/// The ν of the rational correlation with these poles; "" where there is none.
std::string nu_of(const Values& poles) {
  std::vector<double> wanted;  // follow the number of poles
  for (std::size_t i = 1; i < poles.size(); ++i) wanted.push_back(std::strtod(poles[i].c_str(), nullptr));
  if (wanted.empty() || wanted.size() > 64) return {};
  const double largest = *std::max_element(wanted.begin(), wanted.end());
  const auto pole_of = [&](double nu) {
    const auto q = noise::Rational::nu_ftrl(Damping{nu}, wanted.size()).q();
    return *std::max_element(q.begin(), q.end());
  };
  try {
    double low = 1e-10;
    double high = 0.25;
    for (int i = 0; i < 100; ++i) {
      const double middle = std::sqrt(low * high);
      (pole_of(middle) > largest ? low : high) = middle;
    }
    const auto found = noise::Rational::nu_ftrl(Damping{high}, wanted.size()).q();
    const bool is_it = std::equal(wanted.begin(), wanted.end(), found.begin(), found.end(),
                                  [](double a, double b) { return std::abs(a - b) < 1e-7; });
    return is_it ? fmt::format("{:.6g}", high) : std::string();  // else somebody gave the poles
  } catch (const std::exception&) {
    return {};
  }
}

/// The value of a setting as a file has it; "" where it cannot be said shortly.
std::string shown(const std::string& name, const Values& values) {
  if (name == "noise.nu" && values.size() > 1) return nu_of(values);
  if (values.size() != 1 || name.ends_with("privacy.rho") || name == "unit" || name == "spread") return {};
  for (const Code& code : codes) {
    if (!name.ends_with(code.setting)) continue;
    const std::size_t at = std::strtoul(values.front().c_str(), nullptr, 10);
    return at < code.names.size() ? code.names[at] : std::string();
  }
  return values.front();
}

bool all_zero(const Values* values) {
  return values == nullptr || std::all_of(values->begin() + 1, values->end(), [](const std::string& each) {
           return each == "0" || each == "-0";
         });  // the first value is how many there are
}

/// Finds what differs between two texts.
class Difference {
 public:
  Difference(std::string_view there, std::string_view here, const BesideTexts& beside)
      : old_(by_name(there)), now_(by_name(here)), beside_(beside) {
    names_ = now_.names;
    for (const std::string& name : old_.names) {
      if (!now_.values.contains(name)) names_.push_back(name);
    }
    for (const std::string& name : names_) {
      const Values* const one = values(old_, name);
      const Values* const other = values(now_, name);
      if (one == nullptr || other == nullptr || *one != *other) differing_.insert(name);
    }
  }

  [[nodiscard]] std::vector<std::string> told() const {
    std::vector<std::string> told;
    for (const std::string& name : names_) {
      if (!differing_.contains(name) || follows_from_others(name) || is_within_new(name)) continue;
      told.push_back(difference_of(name));
    }
    if (knows_rho() && rho_differs()) {
      told.push_back(fmt::format("privacy.rho ({:.6g} there, {:.6g} here)", *beside_.rho_there, *beside_.rho_here));
    }
    return told;
  }

 private:
  static const Values* values(const SettingsByName& all, const std::string& name) {
    const auto found = all.values.find(name);
    return found == all.values.end() ? nullptr : &found->second;
  }

  [[nodiscard]] bool any(std::initializer_list<const char*> of) const {
    return std::any_of(of.begin(), of.end(), [&](const char* each) { return differing_.contains(each); });
  }

  [[nodiscard]] bool knows_rho() const { return beside_.rho_there && beside_.rho_here; }
  [[nodiscard]] bool rho_differs() const {
    return std::abs(*beside_.rho_there - *beside_.rho_here) > 1e-9 * *beside_.rho_here;
  }

  /// Whether the line belongs to a feature, weight or exposure that is new or gone. That is one difference, not one
  /// for each of its lines.
  [[nodiscard]] bool is_within_new(const std::string& name) const {
    const std::size_t dot = name.rfind("'.");
    if (dot != std::string::npos) return differing_.contains(name.substr(0, dot + 1));
    for (const char* const section : {"weight", "exposure"}) {
      const std::string first = std::string(section) + (section[0] == 'e' ? ".log" : "");
      const bool is_whole = (values(old_, first) == nullptr) != (values(now_, first) == nullptr);
      if (is_whole && name.starts_with(section)) return name != std::string(section) + ".column";
    }
    return false;
  }

  /// Whether the setting is computed from others and one of those differs.
  [[nodiscard]] bool follows_from_others(const std::string& name) const {
    const bool noise = any({"noise.correlation", "noise.horizon", "noise.nu"});
    if (name == "noise.nu") {  // where it is not set, it is the best one for what is quoted
      return any({"noise.correlation"}) ||
             (!beside_.nu_is_set && any({"noise.horizon", "descent.step_size", "descent.average",
                                         "descent.average_from", "descent.average_decay", "descent.minibatch"}));
    }
    if (name == "beta" || name == "c") return noise;
    if (name == rows_of_correlation) return noise || any({"bands", "height"});
    if (name == "--passes") return any({"users.participations"});  // of users it is k
    if (name == "separation") return any({"--passes"});
    if (name == "descent.start" || name == "moments.start") {  // by default as many zeros as there are parameters
      return all_zero(values(old_, name)) && all_zero(values(now_, name));
    }
    if (name == "displacement") {
      return any({"descent.clip_norm", "privacy.adjacency", "row_norm", "regressor_bound", "residual_bound"});
    }
    if (name == "privacy.rho") {
      return knows_rho() || noise ||
             any({"--passes", "separation", "beta", "c", "bands", "height", rows_of_correlation});
    }
    return false;
  }

  [[nodiscard]] std::string difference_of(const std::string& name) const {
    const Values* const there = values(old_, name);
    const Values* const here = values(now_, name);
    if (there == nullptr) return name + " (new)";
    if (here == nullptr) return name + " (gone)";
    constexpr std::size_t widest = 24;
    const std::string one = shown(name, *there);
    const std::string other = shown(name, *here);
    const bool is_told = !one.empty() && !other.empty() && one.size() <= widest && other.size() <= widest;
    if (name == "noise.nu" && !beside_.nu_is_set) {
      const char* const why = "its default follows plan.records and plan.second_moment_eigenvalues";
      return is_told ? fmt::format("noise.nu ({} there, {} here; {})", one, other, why)
                     : fmt::format("noise.nu ({})", why);
    }
    return is_told ? fmt::format("{} ({} there, {} here)", name, one, other) : name;
  }

  SettingsByName old_, now_;
  BesideTexts beside_;
  std::vector<std::string> names_;
  std::set<std::string> differing_;
};

/// Whether one text is of an epoch by user and the other of one by record. Neither may follow the other: one of them
/// promises nothing about the other's unit.
bool is_of_another_unit(std::string_view there, std::string_view here) {
  const auto is_by_user = [](std::string_view text) {
    const SettingsByName all = by_name(text);
    const auto found = all.values.find("privacy.protects");
    return found != all.values.end() && found->second.back() == "user";
  };
  return is_by_user(there) != is_by_user(here);
}

}  // namespace

std::vector<std::string> differing_settings(std::string_view there, std::string_view here,
                                            const BesideTexts& beside) {
  return Difference(there, here, beside).told();
}

BesideTexts beside_texts(const Config& config, const Mechanism& mechanism) {
  const SettingsTree tree(config.file, config.overrides);
  return {.rho_here = mechanism.spend.limit().value(), .nu_is_set = tree.root().section("noise").has("nu")};
}

void require_same_settings(std::string_view text, const std::string& digest, const EpochDigests& digests,
                           const BesideTexts& beside) {
  if (digests.has(digest)) return;
  const std::string& here = digests.like(digest);
  const bool may_follow = text.empty() || !is_of_another_unit(text, digests.text_of(here));
  const std::string next =
      std::string(beside.is_attached ? "start it" : "resume") + " with the settings that made it, or begin " +
      (may_follow ? "a new epoch with --new-epoch"
                  : "in another state.directory or with other topics: promises about records and about users do not "
                    "add up");
  const std::vector<std::string> differing = differing_settings(text, digests.text_of(here), beside);
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
