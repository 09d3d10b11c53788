// What the present settings tell of a difference beside their canonical text.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/estimator_choice.h"
#include "config/settings_difference.h"
#include "config/settings_tree.h"

namespace nustream::config {
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
  if (config.purpose == Purpose::table) return by;  // its sums are released once
  return by + fmt::format(" and release.every = {}",
                          config.moments ? config.descent.minibatch : config.descent.release_every);
}

}  // namespace

BesideTexts beside_texts(const Config& config, const Mechanism& mechanism) {
  const SettingsTree tree(config.file, config.overrides);
  BesideTexts beside{.rho_here = mechanism.spend.limit(),
                     .nu_is_set = tree.root().section("noise").has("nu"),
                     .is_table = config.estimate.steps > 0};
  beside.poles_are_set = tree.root().section("noise").has("poles");
  beside.intervals = tree.root().section("intervals").text("kind").value_or("none");
  beside.tells_status = tree.root().section("release").flag("status").value_or(false);
  beside.correlation = tree.root().section("noise").text("correlation").value_or("");
  // Any stream may end by descent.horizon, and some correlations by an end of their own.
  if (!tree.root().section("noise").has("horizon")) beside.horizon = "descent.horizon";
  if (config.chosen.empty()) return beside;
  const std::vector<std::string> settings =
      resolve_estimator(config.file, config.overrides, config.purpose).overrides;
  for (std::size_t i = config.overrides.size(); i < settings.size(); ++i) {
    beside.chosen.push_back(settings[i].substr(0, settings[i].find('=')));
  }
  beside.nu_is_set = true;  // or it was chosen
  beside.chosen_by = settings_of_choice(config);
  return beside;
}

}  // namespace nustream::config
