// Carries out model.estimator = "auto": the settings are read once with running sums in its place, the choice is
// made, and the chosen settings become overrides, with which the caller reads the file again.
#include <fmt/format.h>

#include <initializer_list>
#include <utility>

#include "config/estimator_choice.h"
#include "config/read_sections.h"

namespace nustream::config {
namespace {

void refuse_of_descent(const Section& root, std::initializer_list<const char*> keys, const char* allowed) {
  const Section descent = root.section("descent");
  for (const char* key : keys) {
    if (descent.has(key)) descent.refuse(key, allowed);
  }
}

/// Refuses settings for which the comparison for a table predicts no error. It knows a descent that quotes its last
/// iterate, takes all rows in each step, in steps of one size, and has independent noise; and sums that are released
/// once and solved without a ridge.
void check_table(const Section& root) {
  refuse_of_descent(
      root, {"average", "minibatch"},
      "nothing where estimator = \"auto\" for a table: its descent takes all records in each step, and the "
      "last iterate is quoted");
  const auto require = [](const Section& section, const char* key, const char* usual, const char* why) {
    if (section.text(key).value_or(usual) == usual) return;
    section.refuse(key, fmt::format("\"{}\" where estimator = \"auto\" for a table{}", usual, why));
  };
  require(root.section("noise"), "correlation", "independent", "");
  require(root.section("descent"), "schedule", "constant", "");
  require(root.section("moments"), "solve", "floored", ": no error is predicted of a ridge");
  const Section release = root.section("release");
  if (release.has("every")) {
    release.refuse("every", "nothing where estimator = \"auto\" for a table: its sums are released once");
  }
}

/// Refuses settings that leave no choice of estimator.
void check_choice(const Section& root, Purpose purpose) {
  const Section model = root.section("model");
  const auto refuse = [&](const char* reason) { model.refuse("estimator", reason); };
  if (model.text("loss").value_or("linear") != "linear") refuse("\"descent\": other losses are not solved from sums");
  if (root.has("instruments") || root.has("endogenous")) {
    refuse("\"descent\" or \"moments\" with [[endogenous]] regressors: no error is predicted of them");
  }
  if (root.section("privacy").text("unit") == "user") {
    refuse("\"descent\" or \"moments\" where the unit is the user: what limits cost is not compared");
  }
  if (root.section("privacy").has("protects")) refuse("\"descent\" or \"moments\" together with privacy.protects");
  for (const char* key : {"stages", "memory"}) {
    if (root.section("moments").has(key)) refuse("\"moments\" where [moments] has stages or a memory");
  }
  refuse_of_descent(root, {"momentum", "cooldown"},
                    "nothing where estimator = \"auto\": what it expects is of plain steps");
  if (purpose == Purpose::table) check_table(root);
}

/// Refuses settings that lack a guess by which the estimators are compared, and names all that are missing at once.
void require_guesses(const Section& root, const std::string& file) {
  const Section plan = root.section("plan");
  std::vector<std::string> missing;
  for (const char* key : {"records", "residual", "distance"}) {
    if (!plan.has(key)) missing.emplace_back(key);
  }
  if (missing.empty()) {
    if (plan.count("records").value_or(0) < 2) {
      plan.refuse("records", "at least 2 where model.estimator = \"auto\" compares by it");
    }
    return;
  }
  // For a single key the usual message also looks for a misspelt one.
  if (missing.size() == 1) plan.missing(missing.front());
  std::string names;
  std::string options;
  for (const std::string& key : missing) {
    names += (names.empty() ? "plan." : " and plan.") + key;
    options += " --set plan." + key + "=…";
  }
  throw Failure(Exit::configuration,
                fmt::format("{}: {} are missing, by which model.estimator = \"auto\" compares; set "
                            "them in the file or with{}",
                            file, names, options));
}

/// Refuses settings that are to be measured, because the choice is made before anything is measured.
void require_numbers(const std::string& file, const std::vector<std::string>& overrides) {
  SettingsTree tree(file, overrides);
  const auto [keys, place] = tree.take_private_out();
  if (keys.empty()) return;
  throw Failure(
      Exit::configuration,
      fmt::format("{}: {} = \"private\" where model.estimator = \"auto\": the choice needs numbers, and is made "
                  "before anything is measured; set model.estimator to \"moments\" or \"descent\", or measure "
                  "under one of them with --write-config and take the numbers that it writes",
                  place, keys.front()));
}

/// What the settings leave to the choice. A key that is set is settled, and the candidates are the best under it.
Open open_settings(const Section& root) {
  const Section descent = root.section("descent");
  const Section sums = root.section("moments");
  const std::string average = descent.text("average").value_or("");
  if (average == "exponential") descent.refuse("average", "\"tail\" or \"last\" where estimator = \"auto\"");
  return {{descent.number("step_size"), descent.number("clip_norm"), root.section("noise").number("nu"),
           descent.count("average_from"), sums.number("row_norm"), sums.number("residual_bound"),
           sums.number("second_moment_share")},
          average != "tail",
          average != "last",
          {root.section("estimate").count("steps")}};
}

[[noreturn]] void refuse_guesses(const std::string& file, const char* why) {
  throw Failure(
      Exit::configuration,
      fmt::format("{}: model.estimator = \"auto\" cannot compare: {}; correct [plan], or set model.estimator "
                  "to \"descent\" or \"moments\"",
                  file, why));
}

/// Chooses for a stream or a table. A fault of the guesses is one of the settings.
EstimatorChoice choose(const Config& config, const Open& open, const std::string& file) {
  try {
    return config.purpose == Purpose::table ? choose_table_estimator(config, open) : choose_estimator(config, open);
  } catch (const InvalidParameter& error) {
    refuse_guesses(file, error.what());
  } catch (const Unsupported& error) {
    refuse_guesses(file, error.what());
  }
}

/// Whether the key of "section.key=value" is set.
bool is_set(const Section& root, const std::string& setting) {
  const std::size_t dot = setting.find('.');
  const std::string key = setting.substr(dot + 1, setting.find('=') - dot - 1);
  // The estimator itself is set to "auto", which is what is replaced.
  return key != "estimator" && root.section(setting.substr(0, dot)).has(key);
}

}  // namespace

Resolved resolve_estimator(const std::string& file, std::vector<std::string> overrides, Purpose purpose) {
  const SettingsTree tree(file, overrides);
  const Section& root = tree.root();
  if (root.section("model").text("estimator") != "auto") return {std::move(overrides), {}};
  check_choice(root, purpose);
  require_numbers(file, overrides);
  require_guesses(root, file);
  // The settings are first read as running sums, to learn everything that both estimators share: any of these models
  // may be solved from sums.
  std::vector<std::string> meanwhile = overrides;
  meanwhile.emplace_back("model.estimator=moments");
  // Reading demands these two. The values do not matter: the choice computes its own.
  for (const char* setting : {"moments.row_norm=1", "moments.residual_bound=1"}) {
    if (!is_set(root, setting)) meanwhile.emplace_back(setting);
  }
  // Only for the choice. What the caller reads afterwards are the overrides that are returned.
  const SettingsTree as_sums(file, meanwhile);
  const Config shared = read_tree(as_sums, file, meanwhile, purpose);
  const Open open = open_settings(root);
  const EstimatorChoice choice = choose(shared, open, file);
  for (const std::string& setting : choice.candidates[choice.taken].settings) {
    if (!is_set(root, setting)) overrides.push_back(setting);
  }
  return {std::move(overrides), choice.why};
}

}  // namespace nustream::config
