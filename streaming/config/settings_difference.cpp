// Compares two canonical texts line by line under the names of a file, and leaves out what only follows from another
// difference, so that the message names the few keys that somebody changed.
#include "config/settings_difference.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/estimator_choice.h"
#include "config/settings_by_name.h"
#include "config/settings_tree.h"
#include "error.h"
#include "nustream/noise/rational.h"

namespace nustream::config {
namespace {

using Values = std::vector<std::string>;

/// A setting that the text holds as a number, and the names that a file has for its numbers.
struct Code {
  std::string_view setting;
  std::vector<const char*> names;
};
// The places in these lists are the numbers of the enumerations, which the text holds.
const std::vector<const char*> time_units{"none", "seconds", "milliseconds", "microseconds"};
// A name that ends with the setting is meant, since a feature's lines begin with its own name.
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
  // The largest pole falls as ν grows. So bisection finds ν, and then all poles are compared.
  try {
    // The range of ν, halved in its logarithm a hundred times, which leaves no more than rounding.
    double low = 1e-10;
    double high = 0.25;
    for (int i = 0; i < 100; ++i) {
      const double middle = std::sqrt(low * high);
      (pole_of(middle) > largest ? low : high) = middle;
    }
    const auto found = noise::Rational::nu_ftrl(Damping{high}, wanted.size()).q();
    // Poles are written with all digits, but ν was found only up to rounding.
    const bool is_it = std::equal(wanted.begin(), wanted.end(), found.begin(), found.end(),
                                  [](double a, double b) { return std::abs(a - b) < 1e-7; });
    return is_it ? fmt::format("{:.6g}", high) : std::string();  // any other poles were set by hand
  } catch (const std::exception&) {
    return {};
  }
}

/// The value of a setting as a file has it; "" where a difference names the setting alone.
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

/// Whether a list of numbers, whose first value is their count, is zeros; a setting that is not there counts as such.
bool all_zero(const Values* values) {
  return values == nullptr || std::all_of(values->begin() + 1, values->end(), [](const std::string& each) {
           return each == "0" || each == "-0";
         });  // the first value is how many there are
}

/// What an entry says of a feature, without the feature's name: "'.buckets (8 there, 16 here)"; "" for other entries.
std::string_view said_of_feature(std::string_view entry) {
  if (!entry.starts_with("feature '")) return {};
  const std::size_t within = entry.rfind("'.");
  const std::size_t whole = entry.rfind("' (");
  const std::size_t end = within != std::string_view::npos ? within : whole;
  return end == std::string_view::npos ? std::string_view() : entry.substr(end);
}

/// The entries, of which one stands for all that say the same of many features. A list of texts or buckets is one key
/// of the file and many features, which would bury what else differs.
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

/// Finds what differs between two texts.
class Difference {
 public:
  Difference(std::string_view there, std::string_view here, const BesideTexts& beside)
      : old_(by_name(there)), now_(by_name(here)), beside_(beside) {
    // Settings of the present text come first, in its order, then those that are only in the other one. Only running
    // sums have a line for the estimator, and the other lines that are new or gone follow from it.
    names_ = now_.names;
    for (const std::string& name : old_.names) {
      if (!now_.values.contains(name)) names_.push_back(name);
    }
    std::ranges::stable_partition(names_, [](const std::string& name) { return name == estimator; });
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
    const std::vector<std::string> there = features_of(old_);
    const std::vector<std::string> here = features_of(now_);
    // Features that moved have equal lines under their names, so that only their order tells that
    // a row is another one.
    if (there != here && std::is_permutation(there.begin(), there.end(), here.begin(), here.end())) {
      const auto first = std::mismatch(there.begin(), there.end(), here.begin());
      told.push_back(fmt::format("the order of features, or of the texts of one_hot ({} there, {} here)",
                                 *first.first, *first.second));
    }
    // The text has the σ of each stage. A person has set one ρ for all of them.
    if (knows_rho() && rho_differs()) {
      told.push_back(fmt::format("privacy.rho ({:.6g} there, {:.6g} here)", beside_.rho_there->value(),
                                 beside_.rho_here->value()));
    }
    return with_likes_together(told);
  }

 private:
  static constexpr const char* estimator = "model.estimator";

  /// The features and the target, in their order.
  static std::vector<std::string> features_of(const SettingsByName& all) {
    std::vector<std::string> features;
    for (const std::string& name : all.names) {
      if (name.ends_with("'")) features.push_back(name);
    }
    return features;
  }

  static const Values* values(const SettingsByName& all, const std::string& name) {
    const auto found = all.values.find(name);
    return found == all.values.end() ? nullptr : &found->second;
  }

  [[nodiscard]] bool any(std::initializer_list<const char*> of) const {
    return std::any_of(of.begin(), of.end(), [&](const char* each) { return differing_.contains(each); });
  }

  [[nodiscard]] bool knows_rho() const { return beside_.rho_there && beside_.rho_here; }
  [[nodiscard]] bool rho_differs() const {
    // σ is computed from ρ and the limit from σ, so that equal settings may differ by rounding.
    return std::abs(beside_.rho_there->value() - beside_.rho_here->value()) > 1e-9 * beside_.rho_here->value();
  }

  /// Whether the line belongs to a feature, weight, exposure or estimator that is new or gone. Such a feature is one
  /// difference, not one for each of its lines.
  [[nodiscard]] bool is_within_new(const std::string& name) const {
    const bool is_in_both = values(old_, name) != nullptr && values(now_, name) != nullptr;
    if (!is_in_both && name != estimator && differing_.contains(estimator)) return true;
    const std::size_t dot = name.rfind("'.");
    if (dot != std::string::npos) return differing_.contains(name.substr(0, dot + 1));
    for (const char* const section : {"weight", "exposure"}) {
      // The first line of an exposure has the name exposure.log, that of a weight has the section's own.
      const std::string first = std::string(section) + (section[0] == 'e' ? ".log" : "");
      const bool is_whole = (values(old_, first) == nullptr) != (values(now_, first) == nullptr);
      if (is_whole && name.starts_with(section)) return name != std::string(section) + ".column";
    }
    return false;
  }

  /// Whether ν follows from settings that differ. Where ν is not set, it is the best one for what is quoted.
  [[nodiscard]] bool nu_follows() const {
    return any({"noise.correlation"}) ||
           (!beside_.nu_is_set && any({"noise.horizon", "descent.step_size", "descent.average",
                                       "descent.average_from", "descent.average_decay", "descent.minibatch"}));
  }

  /// Whether the number of passes follows from settings that differ: for users it is k, and in a table it follows
  /// from the steps.
  [[nodiscard]] bool passes_follow() const {
    return any({"users.participations"}) || (beside_.is_table && any({"noise.horizon"}));
  }

  /// Whether the setting is computed from others and one of those differs.
  [[nodiscard]] bool follows_from_others(const std::string& name) const {
    // The three settings by which a correlation is named; its coefficients follow from them.
    const bool noise = any({"noise.correlation", "noise.horizon", "noise.nu"});
    if (name == "noise.nu") return nu_follows();
    if (name == "beta" || name == "c") return noise;
    if (name == rows_of_correlation) return noise || any({"bands", "height"});
    if (name == "--passes") return passes_follow();
    if (name == "separation") return any({"--passes"});
    if (name == "descent.start" || name == "moments.start") {  // by default as many zeros as there are parameters
      return all_zero(values(old_, name)) && all_zero(values(now_, name));
    }
    if (name == "displacement") {
      return any({"descent.clip_norm", "privacy.adjacency", "moments.row_norm", "moments.regressor_bound",
                  "moments.residual_bound"});
    }
    if (name == "privacy.rho") {
      return knows_rho() || noise ||
             any({"--passes", "separation", "beta", "c", "bands", "height", rows_of_correlation});
    }
    return false;
  }

  /// The key that somebody typed. A table has no key for the horizon of its noise, which is its number of steps, and
  /// no --passes, which follow from that number.
  [[nodiscard]] std::string typed(const std::string& name) const {
    if (!beside_.is_table) return name;
    if (name == "noise.horizon") return "estimate.steps";
    return name == "--passes" ? "passes over the table (estimate.steps, descent.minibatch)" : name;
  }

  [[nodiscard]] std::string difference_of(const std::string& name) const {
    const Values* const there = values(old_, name);
    const Values* const here = values(now_, name);
    if (name == estimator) {
      const auto estimator_of = [](const Values* of) { return of == nullptr ? "descent" : of->front(); };
      return fmt::format("{} ({} there, {} here)", name, estimator_of(there), estimator_of(here));
    }
    if (there == nullptr) return name + " (new)";
    if (here == nullptr) return name + " (gone)";
    // Longer values, such as lists of columns or hashes, would bury the names.
    constexpr std::size_t widest = 24;
    const std::string one = shown(name, *there);
    const std::string other = shown(name, *here);
    const bool is_told = !one.empty() && !other.empty() && one.size() <= widest && other.size() <= widest;
    // Nobody has written ν. The reader has to learn where it came from.
    if (name == "noise.nu" && !beside_.nu_is_set) {
      const char* const why = "its default follows plan.records and plan.second_moment_eigenvalues";
      return is_told ? fmt::format("noise.nu ({} there, {} here; {})", one, other, why)
                     : fmt::format("noise.nu ({})", why);
    }
    return is_told ? fmt::format("{} ({} there, {} here)", typed(name), one, other) : typed(name);
  }

  SettingsByName old_, now_;
  BesideTexts beside_;
  std::vector<std::string> names_;
  std::set<std::string> differing_;
};

/// Whether one text is of an epoch by user and the other of an epoch by record. Neither may follow the other, because
/// each promises nothing about the other's unit.
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

namespace {

/// The settings that "auto" goes by and that the text does not have, with their values.
std::string settings_of_choice(const Config& config) {
  const ProblemGuesses& plan = config.problem;
  // Under "auto" all three guesses are there.
  std::string by = fmt::format("plan.records = {}, plan.residual = {:g}, plan.distance = {:g}", plan.records,
                               plan.residual.value_or(0), plan.distance.value_or(0));
  if (!plan.eigenvalues.empty()) {
    by += fmt::format(", plan.second_moment_eigenvalues = [{:g}]", fmt::join(plan.eigenvalues, ", "));
  }
  return by + fmt::format(" and release.every = {}",
                          config.moments ? config.descent.minibatch : config.descent.release_every);
}

/// Names what `differing` has of the settings that "auto" chose, and by what it chose them. A guess of [plan] that
/// somebody changed is in no text, and is the reason all the same. "" where nothing was chosen.
std::string cause_of(const std::vector<std::string>& differing, const BesideTexts& beside) {
  std::vector<std::string> chosen;
  for (const std::string& entry : differing) {
    const std::string name = entry.substr(0, entry.find(' '));
    if (std::ranges::find(beside.chosen, name) != beside.chosen.end()) chosen.push_back(name);
  }
  if (chosen.empty()) return {};
  return fmt::format(
      "; model.estimator = \"auto\" has chosen {} by {}: one of these, or of the other settings, was another there",
      fmt::join(chosen, ", "), beside.chosen_by);
}

}  // namespace

BesideTexts beside_texts(const Config& config, const Mechanism& mechanism) {
  const SettingsTree tree(config.file, config.overrides);
  BesideTexts beside{.rho_here = mechanism.spend.limit(),
                     .nu_is_set = tree.root().section("noise").has("nu"),
                     .is_table = config.estimate.steps > 0};
  if (config.chosen.empty()) return beside;
  // A table has no "auto".
  const std::vector<std::string> settings =
      resolve_estimator(config.file, config.overrides, Purpose::stream).overrides;
  for (std::size_t i = config.overrides.size(); i < settings.size(); ++i) {
    beside.chosen.push_back(settings[i].substr(0, settings[i].find('=')));
  }
  beside.nu_is_set = true;  // or it was chosen
  beside.chosen_by = settings_of_choice(config);
  return beside;
}

void require_same_settings(std::string_view text, const std::string& digest, const EpochDigests& digests,
                           const BesideTexts& beside) {
  if (digests.has(digest)) return;
  const std::string& here = digests.like(digest);
  // Without the text nothing is known of the unit.
  const bool may_follow = text.empty() || !is_of_another_unit(text, digests.text_of(here));
  const std::string next =
      std::string(beside.is_attached ? "start it" : "resume") + " with the settings that made it, or begin " +
      (may_follow ? "a new epoch with: " + beside.new_epoch
                  : "in another state.directory or with other topics: promises about records and about users do not "
                    "add up");
  const std::vector<std::string> differing = differing_settings(text, digests.text_of(here), beside);
  // There is no text to compare with, or the digests differ by something that this version does not know.
  if (text.empty() || differing.empty()) {
    throw Failure(Exit::data,
                  fmt::format("the state is of another settings digest: {}, not {}; {}", digest, here, next));
  }
  // A file of another model differs in nearly everything. A few names are enough to recognise that.
  constexpr std::size_t most = 8;
  const std::size_t shown = std::min(differing.size(), most);
  throw Failure(
      Exit::data,
      fmt::format("the state is of other settings (another settings digest): {}{}{}; {}",
                  fmt::join(differing.begin(), differing.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                  differing.size() > shown ? fmt::format(" and {} more", differing.size() - shown) : "",
                  cause_of(differing, beside), next));
}

}  // namespace nustream::config
