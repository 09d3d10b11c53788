// Reads back the text that digest.cpp writes, and translates its short keys to the names that a file of settings has.
// A key that digest.cpp begins to write needs an entry here, or it is shown under its own name.
#include "config/settings_by_name.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <iterator>

namespace nustream::config {
namespace {

constexpr const char* further_stages = "moments.stages";

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
    {"runs", "intervals.count"},
    {"clipped", "privacy.clipped_share"},
    {"clipped_every", "release.every"},
    {"memory", "moments.memory"},
    {"row_norm", "moments.row_norm"},
    {"regressor_bound", "moments.regressor_bound"},
    {"residual_bound", "moments.residual_bound"},
    {"residual_variance", "moments.residual_variance"},
    {"restage_every", "moments.restage_every"},
    {"solve", "moments.solve"},
    {"correlation", "noise.correlation"},
    {"horizon", "noise.horizon"},
    {"rows", rows_of_correlation},
    {"nu", "noise.nu"},
    {"q", "noise.nu"},  // of the rational correlation, whose poles follow from ν
    {"generator", "noise.generator"},
    {"sigma", "privacy.rho"},
    {"adjacency", "privacy.adjacency"},
    {"times", "--passes"},
    {"user_period", "users.period"},
    {"user_time_column", "stream.time"},
    {"user_time_unit", "stream.time_unit"},
    {"noise", "--insecure-seed"},
    {"stop", "descent.horizon"},
    {"lower", "descent.lower"},
    {"upper", "descent.upper"},
    {"instruments", "[[instruments]]"},
    {"endogenous", "[[endogenous]]"},
    {"first_clip_norm", "first_stage.clip_norm"},
    {"first_l2", "first_stage.l2"},
    {"bread_clip", "intervals.second_moment_clip"},
    {"meat_clip", "intervals.squared_residual_clip"},
    {"spread", kind_of_sums},
    {"height", "noise.height"},
    {"restarts", "noise.restarts"},
    {"bands", "noise.bands"},
    {"beta", "noise.beta"},
    {"c", "noise.c"},
});

/// The setting for a key and its value. A key without an entry stands for itself.
std::string setting_of(std::string_view key, std::string_view value) {
  // The digest has this key twice: with a number for the participations, and with a word for the times of windows.
  if (key == "user_times" && (value == "append" || value == "trusted")) return "users.times";
  const auto* const found =
      std::find_if(setting_names.begin(), setting_names.end(), [&](const auto& pair) { return pair.first == key; });
  return std::string(found == setting_names.end() ? key : found->second);
}

/// The name for a key of a feature or of the target, which is shown under the name `feature`. Such lines come before
/// "intercept".
std::string name_within(const std::string& feature, std::string_view key) {
  return feature + "." + std::string(key);
}

/// Whether a line is skipped, because other lines say the same, or because it need not be the same at a resume.
bool is_passed_over(std::string_view key, std::string_view value) {
  // The weights of the rational correlation's poles follow from the poles, and the rule by which an epoch begins need
  // not be repeated. What counts of users is what their limits are, one by one, and which identifiers are nobody's.
  constexpr std::string_view skipped[] = {"b",        "epoch",       "limits", "identifiers of nobody",
                                          "controls", "moments_from"};
  // That the target is a count follows from the loss.
  return std::ranges::find(skipped, key) != std::end(skipped) || (key == "target" && value == "a count");
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
  // A line is "key=length:value" and a newline. The length decides where the value ends, since it may hold newlines.
  const std::size_t colon = equals == std::string_view::npos ? equals : text.find(':', equals);
  if (colon == std::string_view::npos) return false;
  std::size_t length = 0;
  const std::string_view digits = text.substr(equals + 1, colon - equals - 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  if (error != std::errc() || end != digits.data() + digits.size() || length > text.size() - colon - 1) return false;
  key = text.substr(0, equals);
  value = text.substr(colon + 1, length);
  // The newline behind the value is passed over, too; the last line may lack it.
  text.remove_prefix(std::min(colon + 1 + length + 1, text.size()));
  return true;
}

/// Takes the lines of the text in their order: first those of the features and the target, and then those from
/// "intercept" on, among which a weight and an exposure have lines of their own.
class Lines {
 public:
  void add(std::string_view key, const std::string& value) {
    // The text gives one key to things of different kinds, and their order tells them apart: "column" is a feature's
    // before "intercept" and one of stream.columns after it.
    if (key == "intercept") in_features_ = false;
    if (in_features_ && (key == "feature" || key == "target")) return begin_feature(key, value);
    // All lines between one feature and the next belong to that feature.
    if (in_features_ && !feature_.empty()) return add_of_feature(key, value);
    if (add_of_factor(key, value)) return;
    add_of_rest(key, value);
  }
  [[nodiscard]] SettingsByName all() && { return std::move(all_); }

 private:
  /// Adds a line of a weight or an exposure; false where the line is of neither.
  bool add_of_factor(std::string_view key, const std::string& value) {
    if (!in_features_ && (key == "weight" || key == "exposure")) factor_ = key;
    // This key comes first after weights and exposures, so that it ends their lines.
    if (key == "record_bytes_max") factor_.clear();
    if (factor_.empty()) return false;
    all_.add(name_of_factor(factor_, key), value);
    return true;
  }

  /// Adds a line that is of no column.
  void add_of_rest(std::string_view key, const std::string& value) {
    // Where a stage of running sums begins, or a piece of a descent's schedule.
    if (key == "estimator") is_of_sums_ = true;
    if (key == "unit") return add_unit(value);
    if (add_of_first_stage(key, value) || (is_of_sums_ && add_of_sums(key, value))) return;
    if (key == "from") return all_.add("descent.pieces", value);
    // The first line is the version of the text itself; a later "format" is stream.format.
    const bool is_first_format = key == "format" && all_.names.empty();
    if (!is_passed_over(key, value) && !is_first_format) all_.add(setting_of(key, value), value);
  }

  /// Takes a line of running sums that a file has in another way. The radii of the first stage have keys of their
  /// own; each further stage is one entry, with those of its radii that are not those of the stage before it. Returns
  /// false for any other line.
  bool add_of_sums(std::string_view key, const std::string& value) {
    constexpr std::string_view radii[] = {"row_norm", "regressor_bound", "residual_bound"};
    if (key == "stages") return true;  // how many there are is seen from the stages
    if (key == "start") {
      all_.add("moments.start", value);
    } else if (key == "from") {
      if (stages_++ > 0) all_.add(further_stages, "{from=" + value + "}");
    } else if (key == "units") {
      // In the place of this word the text has the stages that follow from it.
      all_.set(further_stages, {"growing"});
    } else if (std::ranges::find(radii, key) != std::end(radii)) {
      add_radius(std::string(key), value);
    } else {
      return false;
    }
    return true;
  }
  void add_radius(const std::string& key, const std::string& value) {
    const auto before = radii_.find(key);
    const bool is_as_before = before != radii_.end() && before->second == value;
    radii_[key] = value;
    if (stages_ <= 1) return all_.add("moments." + key, value);
    std::string& stage = all_.values[further_stages].back();
    if (!is_as_before) stage.insert(stage.size() - 1, "," + key + "=" + value);
  }

  /// One line of the text says what two keys of a file do.
  void add_unit(const std::string& value) {
    all_.add("privacy.unit", value == "user" ? "user" : "record");
    all_.add("privacy.protects", value == "target of a record" ? "target" : "record");
  }
  /// Takes a line of the first stage's schedule, which has the keys of the descent's own. Returns false for any other
  /// line.
  bool add_of_first_stage(std::string_view key, const std::string& value) {
    if (key == "endogenous") is_in_first_stage_ = !is_of_sums_;
    if (!is_in_first_stage_ || key == "endogenous" || key == "first_clip_norm") return false;
    if (key == "first_l2") {
      is_in_first_stage_ = false;
      return false;
    }
    // Both stages cool down together, so that the descent's lines say it.
    const bool is_of_both = key == "cooldown" || key == "cooldown_to" || key == "steps";
    if (!is_of_both) all_.add("first_stage." + std::string(key == "from" ? "pieces" : key), value);
    return true;
  }
  /// A feature has a name of its own in the result, such as "feature 'price'", so that one that is
  /// new or gone is seen.
  void begin_feature(std::string_view key, const std::string& value) {
    feature_ = std::string(key) + " '" + value + "'";
    all_.add(feature_, "there");
  }
  /// A clamp has two lines in the text, and is one setting in a file. `lower` comes first and waits for `upper`.
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
  std::string factor_;                        // weight or exposure, within its lines
  std::map<std::string, std::string> radii_;  // of the last stage of running sums
  std::size_t stages_ = 0;
  bool in_features_ = true;
  bool is_of_sums_ = false;
  bool is_in_first_stage_ = false;
};

}  // namespace

SettingsByName by_name(std::string_view text) {
  Lines lines;
  for (std::string_view key, value; take_line(text, key, value);) lines.add(key, std::string(value));
  return std::move(lines).all();
}

}  // namespace nustream::config
