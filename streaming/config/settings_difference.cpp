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

#include "config/joined_features.h"
#include "config/settings_by_name.h"
#include "config/shown_setting.h"
#include "config/stage_settings.h"
#include "error.h"

namespace nustream::config {
namespace {

using Values = std::vector<std::string>;

/// Whether a list of numbers, whose first value is their count, is zeros; a setting that is not there counts as such.
bool all_zero(const Values* values) {
  return values == nullptr || std::all_of(values->begin() + 1, values->end(), [](const std::string& each) {
           return each == "0" || each == "-0";
         });  // the first value is how many there are
}

/// A setting of the text, and settings from which it follows.
struct Consequence {
  std::string_view setting;
  std::vector<const char*> causes;
};
const Consequence consequences[] = {
    // A correlation is named by these three, and its coefficients follow from them.
    {"noise.beta", {"noise.correlation", "noise.horizon", "noise.nu"}},
    {"noise.c", {"noise.correlation", "noise.horizon", "noise.nu"}},
    {rows_of_correlation, {"noise.correlation", "noise.horizon", "noise.nu", "noise.bands", "noise.height"}},
    {"separation", {"--passes"}},
    {"steps", {"noise.horizon"}},
    {"noise.poles", {"noise.correlation"}},
    {"intervals.burn_in",
     {"intervals.count", "noise.horizon"}},  // of a table, whose batches are found from all three
    {"privacy.rho",
     {"noise.correlation",
      "noise.horizon",
      "noise.nu",
      "--passes",
      "separation",
      "noise.beta",
      "noise.c",
      "noise.poles",
      "noise.bands",
      "noise.height",
      rows_of_correlation,
      "privacy.unit",
      "users.participations",
      "users.separation",
      "users.mass",
      "privacy.protects",
      "intervals.kind",
      "moments.second_moment_share",
      "moments.regressor_share",
      "moments.eigenvalue_share",
      "intervals.share",
      "moments.solve"}},
};

/// Finds what differs between two texts.
class Difference {
 public:
  Difference(std::string_view there, std::string_view here, const BesideTexts& beside)
      : old_(by_name(there)), now_(by_name(here)), beside_(beside) {
    join_features(old_, now_);
    runs_there_ = std::max<std::uint64_t>(1, number(old_, "intervals.count"));
    runs_here_ = std::max<std::uint64_t>(1, number(now_, "intervals.count"));
    join_stages(old_, now_, beside_);
    kinds_differ_ = beside.is_table ? is_endless(old_) : is_table(old_) && !is_table(now_);
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
      if (one == nullptr || other == nullptr || !are_same(name, *one, *other)) differing_.insert(name);
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
      told.push_back(fmt::format("the order of features ({} there, {} here)", told_name(*first.first),
                                 told_name(*first.second)));
    }
    // The text has the σ of each stage. A person has set one ρ for all of them.
    if (knows_rho() && rho_differs()) {
      told.push_back(fmt::format("privacy.rho ({:.6g} there, {:.6g} here)", rho_there(), rho_here()));
    }
    // Nobody has typed it, so that it is told only where nothing else is known.
    if (told.empty() && differing_.contains(displacement)) told.emplace_back(displacement);
    return with_likes_together(told);
  }

 private:
  static constexpr const char* estimator = "model.estimator";
  static constexpr const char* displacement = "displacement";

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

  /// The only value of `name` as a number; 0 where there is none.
  static std::uint64_t number(const SettingsByName& all, const std::string& name) {
    const Values* const found = values(all, name);
    return found == nullptr ? 0 : std::strtoull(found->front().c_str(), nullptr, 10);
  }
  /// Whether the noise has no end, as that of a table always has.
  static bool is_endless(const SettingsByName& all) { return number(all, "noise.horizon") == 0; }
  /// Whether the noise ends within the last of the passes, as that of a table does.
  static bool is_table(const SettingsByName& all) {
    const std::uint64_t steps = number(all, "noise.horizon");
    const std::uint64_t passes = number(all, "--passes");
    // Of how many steps a pass has, the text has no more than the distance of a record's steps.
    const std::uint64_t of_a_pass = std::max<std::uint64_t>(1, number(all, "separation"));
    return steps > 0 && passes > 0 && (steps - 1) / of_a_pass + 1 == passes;
  }

  [[nodiscard]] bool any(std::initializer_list<const char*> of) const {
    return std::any_of(of.begin(), of.end(), [&](const char* each) { return differing_.contains(each); });
  }

  /// Whether the values are the same. Poles of another number may have one ν: then their number alone differs.
  static bool are_same(const std::string& name, const Values& one, const Values& other) {
    if (name != "noise.nu" || one.size() < 2 || other.size() < 2 || one.size() == other.size()) return one == other;
    const std::string nu = shown_setting(name, one);
    return !nu.empty() && nu == shown_setting(name, other);
  }

  [[nodiscard]] bool knows_rho() const { return beside_.rho_there && beside_.rho_here; }
  /// ρ as it is set: the runs of a table divide it among them.
  [[nodiscard]] double rho_there() const { return beside_.rho_there->value() * static_cast<double>(runs_there_); }
  [[nodiscard]] double rho_here() const { return beside_.rho_here->value() * static_cast<double>(runs_here_); }
  [[nodiscard]] bool rho_differs() const {
    // σ is computed from ρ and the limit from σ, so that equal settings may differ by rounding.
    return std::abs(rho_there() - rho_here()) > 1e-9 * rho_here();
  }

  /// Whether the line belongs to a feature, weight, exposure or estimator that is new or gone. Such a feature is one
  /// difference, not one for each of its lines; of a weight and an exposure the keys are told that one has to set.
  [[nodiscard]] bool is_within_new(const std::string& name) const {
    const bool is_in_both = values(old_, name) != nullptr && values(now_, name) != nullptr;
    if (!is_in_both && name != estimator && differing_.contains(estimator)) return true;
    const std::size_t dot = name.rfind("'.");
    if (dot != std::string::npos) return differing_.contains(name.substr(0, dot + 1));
    for (const char* const section : {"weight", "exposure"}) {
      // The first line of an exposure has the name exposure.log, that of a weight has the section's own.
      const std::string first = std::string(section) + (section[0] == 'e' ? ".log" : "");
      const bool is_whole = (values(old_, first) == nullptr) != (values(now_, first) == nullptr);
      if (!is_whole || !name.starts_with(section)) continue;
      const bool is_log = name == "exposure.log" && (old_.first(name) + now_.first(name)).starts_with("its log");
      return !is_log && !name.ends_with(".column") && !name.ends_with(".max");
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
    return any({"users.participations"}) || ((beside_.is_table || kinds_differ_) && any({"noise.horizon"}));
  }

  /// Whether a setting of the noise follows: the noise of running sums has no section of its own.
  [[nodiscard]] bool noise_follows(const std::string& name) const {
    if (!name.starts_with("noise.")) return false;
    if (differing_.contains(estimator)) return true;
    if (name == "noise.poles" && any({"noise.nu"}) && !beside_.poles_are_set) return true;
    return is_of_sums() && name != "noise.horizon" && any({"moments.memory", "release.every", "noise.horizon"});
  }
  [[nodiscard]] bool is_of_sums() const { return values(now_, estimator) != nullptr; }

  /// Whether the setting is computed from others and one of those differs.
  [[nodiscard]] bool follows_from_others(const std::string& name) const {
    if (noise_follows(name) || is_of_new_setting(name)) return true;
    if (name == "noise.nu") return nu_follows();
    if (name == displacement) return true;
    if (name == "--passes") return passes_follow();
    // Where nobody has set them, a table's step takes all of its records, and any two steps of a user may follow one
    // another.
    if (name == "descent.minibatch") return kinds_differ_;
    if (name == "users.separation") return is_new_default(name, "1");
    if (name == "descent.start" || name == "moments.start") {  // by default as many zeros as there are parameters
      return all_zero(values(old_, name)) && all_zero(values(now_, name));
    }
    if (name == "privacy.rho" && knows_rho()) return true;
    return std::ranges::any_of(consequences, [&](const Consequence& one) {
      return name == one.setting && std::ranges::any_of(one.causes, [&](const char* each) { return any({each}); });
    });
  }

  /// Whether the setting is in one text alone because another one differs: a count of clipped gradients is made at
  /// releases, a text of columns has a delimiter, and private rows have shares of ρ.
  [[nodiscard]] bool is_of_new_setting(const std::string& name) const {
    const bool is_in_both = values(old_, name) != nullptr && values(now_, name) != nullptr;
    if (is_in_both) return false;
    if (name == "release.every") return any({"privacy.clipped_share"});
    if (name == "stream.delimiter") return any({"stream.format"}) && is_new_default(name, ",");
    if (name == "first_stage.share") return is_new_default(name, "0.5");
    if (name == "moments.eigenvalue_share") return is_new_default(name, "0.333333");
    const bool is_of_rows = name == "moments.second_moment_share" || name == "moments.regressor_share";
    return is_of_rows && (any({"privacy.protects"}) || is_new_default(name, "0.5"));
  }

  /// Whether the setting is there on one side alone, with the value that it has unless somebody sets it.
  [[nodiscard]] bool is_new_default(const std::string& name, const char* by_default) const {
    const Values* const there = values(old_, name);
    const Values* const here = values(now_, name);
    const Values* const only = there == nullptr ? here : there;
    return (there == nullptr) != (here == nullptr) && only->front() == by_default;
  }

  /// The key that somebody typed. A table has no key for the horizon of its noise, which is its number of steps, and
  /// no --passes, which follow from that number. That of running sums is their number of releases.
  [[nodiscard]] std::string typed(const std::string& name) const {
    const bool is_table_here_or_there = beside_.is_table || kinds_differ_;
    if (name == "noise.horizon") {
      if (is_table_here_or_there) return "estimate.steps";
      return is_of_sums() ? "moments.releases" : any({"noise.correlation"}) ? name : beside_.horizon;
    }
    if (name == "separation") return "records of a pass";
    if (name == "steps") return "descent.horizon";
    if (name == "--passes" && beside_.is_table) return "passes over the table (estimate.steps, descent.minibatch)";
    return told_name(name);
  }

  /// The name that a file has for the correlation. The text has one for several of them.
  static std::string correlation_of(const std::string& name) {
    return name == "strategy" ? "strategy or optimised" : name == "dense" ? "a matrix" : name;
  }

  [[nodiscard]] std::string difference_of_correlation(const std::string& name) const {
    const std::string& typed_here = beside_.correlation;
    if (name == rows_of_correlation) {
      return "noise.correlation (another matrix there" + (typed_here.empty() ? ")" : ", " + typed_here + " here)");
    }
    return fmt::format("{} ({} there, {} here)", name, correlation_of(old_.first(name)),
                       typed_here.empty() ? correlation_of(now_.first(name)) : typed_here);
  }

  [[nodiscard]] std::string difference_of(const std::string& name) const {
    const Values* const there = values(old_, name);
    const Values* const here = values(now_, name);
    if (name == estimator) {
      const auto estimator_of = [](const Values* of) { return of == nullptr ? "descent" : of->front(); };
      return fmt::format("{} ({} there, {} here)", name, estimator_of(there), estimator_of(here));
    }
    if (name == "noise.correlation" || name == rows_of_correlation) return difference_of_correlation(name);
    if (there == nullptr) return typed(name) + " (new)";
    if (here == nullptr) return typed(name) + " (gone)";
    // Longer values, such as lists of columns or hashes, would bury the names.
    constexpr std::size_t widest = 24;
    const std::string one = shown_setting(name, *there);
    const std::string other = shown_setting(name, *here);
    const bool is_told = !one.empty() && !other.empty() && one.size() <= widest && other.size() <= widest;
    // Nobody has written ν. The reader has to learn where it came from.
    if (name == "noise.nu" && !beside_.nu_is_set) {
      const char* const why = "its default follows plan.records and plan.second_moment_eigenvalues";
      return is_told ? fmt::format("noise.nu ({} there, {} here; {})", one, other, why)
                     : fmt::format("noise.nu ({})", why);
    }
    return is_told ? fmt::format("{} ({} there, {} here)", typed(name), one, other) : typed(name);
  }

  std::uint64_t runs_there_ = 1, runs_here_ = 1;  ///< over a table, of intervals.kind = "runs"; else 1
  bool kinds_differ_ = false;                     ///< one text is of a table, and the other of a stream
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
    const auto found = all.values.find("privacy.unit");
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
