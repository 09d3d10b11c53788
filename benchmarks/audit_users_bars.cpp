// Measures how much of the claim about a user an audit proves, for a descent in minibatches and for running sums with
// four rows of the user in a step. The canary user contributes in the worst pattern of k = 1, 4 and 16 contributions,
// or of a mass. It does so in one epoch, in two epochs whose counts carry over or are lost, in two windows of time,
// and in two epochs of two windows each. The bar is .9 of the claimed ε where a pattern reaches the claim, and
// otherwise .9 of the ε that the filters over B can show. Usage: audit_users_bars FOLDER [ROW…]; RUNS in the
// environment for another number of games. Each row is a file of its own in FOLDER and is played once. Exits with 1
// where a bar is missed or a claim is exceeded.
//
// Keys are the system's randomness: each of the bounds exceeds a true claim in one audit of a thousand.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "audit/audit.h"
#include "audit/worst_user.h"
#include "audit_rows.h"
#include "config/mechanism.h"
#include "example_config.h"
#include "nustream/privacy/epsilon.h"
#include "temporary_folder.h"

namespace {

using namespace nustream;

constexpr double delta = 1e-2;
constexpr double epsilon = 2;
struct Limits {
  const char* name;
  std::vector<std::string> settings;
  bool is_reached;      ///< whether some pattern costs what is claimed
  std::uint64_t steps;  ///< steps of one window in one epoch, enough for all contributions
};
const std::vector<Limits> all_limits{{"k1", {"users.participations=1"}, true, 4},
                                     {"k4", {"users.participations=4", "users.separation=3"}, true, 10},
                                     {"k16", {"users.participations=16"}, true, 16},
                                     {"mass1", {"users.mass=1"}, true, 4},
                                     {"mass4", {"users.mass=4"}, false, 4}};

struct Stretches {
  const char* name;
  std::uint64_t epochs;
  bool keeps_counts;
  std::uint64_t windows;
};
constexpr Stretches all_stretches[] = {{"one-epoch", 1, true, 1},
                                       {"two-epochs", 2, true, 1},
                                       {"two-epochs-counts-lost", 2, false, 1},
                                       {"two-windows", 1, true, 2},
                                       {"two-epochs-of-two-windows", 2, true, 2}};

audit::Options options_of(const Limits& limits, const Stretches& stretches) {
  audit::Options options;
  options.epochs = stretches.epochs;
  options.keeps_counts = stretches.keeps_counts;
  options.windows = stretches.windows;
  options.steps = limits.steps * stretches.epochs * stretches.windows;
  options.along_axis = true;
  options.delta = delta;
  options.runs = 1'000'000;
  if (const char* asked = std::getenv("RUNS")) options.runs = std::strtoull(asked, nullptr, 10);
  return options;
}

struct Model {
  const char* name;  ///< what the names of its rows begin with
  std::string (*config)();
  std::vector<std::string> settings;
};
const std::vector<Model> all_models{
    {"users", tests::example_config, {"noise.nu=0.01", "descent.minibatch=2", "descent.step_size=1e-4"}},
    {"users-sums", tests::moments_config, {"release.every=4"}}};

config::Config read(const tests::TemporaryFolder& folder, const Model& model, const Limits& limits,
                    const Stretches& stretches, double rho) {
  std::vector<std::string> overrides{"privacy.unit=user", "privacy.user=who",
                                     fmt::format("privacy.rho={:.17g}", rho)};
  overrides.insert(overrides.end(), model.settings.begin(), model.settings.end());
  overrides.insert(overrides.end(), limits.settings.begin(), limits.settings.end());
  if (stretches.windows > 1) {
    overrides.insert(overrides.end(), {"stream.time=when", "users.period=P1D", "users.times=trusted"});
  }
  return config::read_config(folder.write("audited.toml", model.config()), overrides);
}

audit::Finding play(const Model& model, const Limits& limits, const Stretches& stretches) {
  const tests::TemporaryFolder folder;
  const audit::Options options = options_of(limits, stretches);
  const config::Config unit = read(folder, model, limits, stretches, 1);
  const double of_one =
      audit::worst_user(unit, config::make_mechanism(unit, privacy::Participation::once()), options).claimed.value();
  const double rho = privacy::rho_for(Epsilon{epsilon}, Delta{delta}).value() / of_one;
  return audit::audit(read(folder, model, limits, stretches, rho), config::Purpose::stream, options);
}

std::string to_json(const Limits& limits, const Stretches& stretches, const audit::Finding& finding) {
  const double shown = privacy::epsilon(Rho{finding.mu_of_filter * finding.mu_of_filter / 2}, Delta{delta}).value();
  const double bar = 0.9 * (limits.is_reached ? finding.epsilon : shown);
  return fmt::format(
      "{{\"limits\": \"{}\", \"stretches\": \"{}\", \"steps\": {}, \"games_in_each_world\": {}, \"epsilon\": {:.6g}, "
      "\"epsilon_of_the_pattern\": {:.6g}, \"epsilon_proven\": {:.6g}, \"epsilon_share\": {:.4f}, \"mu\": {:.6g}, "
      "\"mu_of_the_pattern\": {:.6g}, \"mu_proven\": {:.6g}, \"mu_share\": {:.4f}, \"bar\": \"epsilon .9 of {}\", "
      "\"met\": {}}}",
      limits.name, stretches.name, finding.steps, finding.runs, finding.epsilon, shown, finding.epsilon_bound,
      finding.epsilon_bound / finding.epsilon, finding.mu, finding.mu_of_filter, finding.mu_bound,
      finding.mu_bound / finding.mu, limits.is_reached ? "the claim" : "the pattern",
      !finding.exceeded() && finding.epsilon_bound >= bar);
}

std::string play_once(const std::filesystem::path& folder, const Model& model, const Limits& limits,
                      const Stretches& stretches) {
  const std::string name = fmt::format("{}-{}-{}.json", model.name, limits.name, stretches.name);
  return benchmarks::played_once(folder / name,
                                 [&] { return to_json(limits, stretches, play(model, limits, stretches)); });
}

}  // namespace

int main(int argc, char** argv) {
  return benchmarks::play_rows(argc, argv, [](const auto& folder, const auto& is_wanted) {
    bool all_met = true;
    for (const Model& model : all_models) {
      for (const Limits& limits : all_limits) {
        if (!is_wanted(fmt::format("{}-{}", model.name, limits.name))) continue;
        for (const Stretches& stretches : all_stretches) {
          all_met = benchmarks::is_met(play_once(folder, model, limits, stretches)) && all_met;
        }
      }
    }
    return all_met;
  });
}
