// Measures how much of the claim an audit proves, for each correlation at ε = .5, 1, 2, 4 and δ = 1e-2. The bars are
// .9 of ε and .97 of μ, for a record that comes first. A record that comes at a random one of eight steps is played
// at ε = 1, against the spend by age. The record's gradient lies along one coordinate, except in one row and for
// models of two stages.
//
// Usage: audit_bars FOLDER [CORRELATION…]; RUNS in the environment for fewer games. Each row is a file of its own in
// FOLDER, and is played once, whatever it says. Exits with 1 where a bar is missed or a claim is exceeded.
//
// Keys are the system's randomness, so each bound exceeds a true claim in one audit of a thousand.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "audit/audit.h"
#include "audit_rows.h"
#include "config/mechanism.h"
#include "example_config.h"
#include "nustream/privacy/epsilon.h"
#include "temporary_folder.h"

namespace {

using namespace nustream;

struct Row {
  const char* name;
  std::vector<std::string> settings;
  std::uint64_t passes = 1;
  std::string config = tests::example_config();
  bool along_axis = true;
};

constexpr double delta = 1e-2;

/// The length of a game and, with it, the heights of trees: T = 2^h.
struct Length {
  std::uint64_t steps;
  const char* height;
  const char* horizon;
};
constexpr Length first{4, "noise.height=2", "noise.horizon=4"};
constexpr Length later{8, "noise.height=3", "noise.horizon=8"};

const std::vector<Row>& rows() {
  static const std::vector<Row> all{
      {"independent", {"noise.correlation=independent"}},
      {"nu", {"noise.correlation=nu", "noise.nu=0.01"}},
      {"rational", {"noise.nu=0.01"}},
      {"windowed", {"noise.correlation=windowed", "noise.nu=0.01", "noise.window=3"}},
      {"every-coordinate", {"noise.nu=0.01"}, 1, tests::example_config(), false},
      {"tree", {"noise.correlation=tree"}},
      {"two-passes", {"noise.nu=0.01"}, 2},
      {"two-stages",
       {"noise.nu=0.01"},
       1,
       tests::two_stage_config("clip_norm = 0.7\nstrength_share = 0.2\nstrength_clip = 2.0"),
       false}};
  return all;
}

config::Config read(const tests::TemporaryFolder& folder, const Row& row, const Length& length, double rho) {
  std::vector<std::string> overrides = row.settings;
  if (row.name == std::string_view("tree")) overrides.emplace_back(length.height);
  if (row.name == std::string_view("nu")) overrides.emplace_back(length.horizon);
  overrides.push_back(fmt::format("privacy.rho={:.17g}", rho));
  return config::read_config(folder.write("audited.toml", row.config), overrides);
}

/// The ρ at which the running spend at the game's last step amounts to ε.
double rho_for(const tests::TemporaryFolder& folder, const Row& row, const Length& length, double epsilon) {
  const config::Config config = read(folder, row, length, 1);
  const privacy::Participation participation = row.passes == 1
                                                   ? privacy::Participation::once()
                                                   : privacy::Participation{row.passes, length.steps / row.passes};
  const double spent = config::make_mechanism(config, participation).spend.after(StepCount{length.steps}).value();
  return privacy::rho_for(Epsilon{epsilon}, Delta{delta}).value() / spent;
}

audit::Finding play(const Row& row, const Length& length, double epsilon) {
  const tests::TemporaryFolder folder;
  audit::Options options;
  options.steps = length.steps;
  options.at_random = &length == &later;
  options.passes = row.passes;
  options.along_axis = row.along_axis;
  options.delta = delta;
  if (const char* asked = std::getenv("RUNS")) options.runs = std::strtoull(asked, nullptr, 10);
  return audit::audit(read(folder, row, length, rho_for(folder, row, length, epsilon)), config::Purpose::stream,
                      options);
}

/// The bars are for a record that comes first, since the claim about a later one may be about the worst place for it.
/// What is proven must also be near to what the filter can show.
bool meets_bars(const audit::Finding& finding, const Length& length) {
  if (&length == &later) return !finding.exceeded() && finding.mu_bound >= 0.9 * finding.mu_of_filter;
  return !finding.exceeded() && finding.epsilon_bound >= 0.9 * finding.epsilon &&
         finding.mu_bound >= 0.97 * finding.mu;
}

std::string to_json(const Row& row, const Length& length, const audit::Finding& finding) {
  return fmt::format(
      "{{\"correlation\": \"{}\", \"steps\": {}, \"at\": {}, \"games_in_each_world\": {}, \"epsilon\": {:.6g}, "
      "\"epsilon_proven\": {:.6g}, \"epsilon_share\": {:.4f}, \"mu\": {:.6g}, \"mu_proven\": {:.6g}, "
      "\"mu_share\": {:.4f}, \"bar\": \"{}\", \"met\": {}}}",
      row.name, finding.steps, finding.at, finding.runs, finding.epsilon, finding.epsilon_bound,
      finding.epsilon_bound / finding.epsilon, finding.mu, finding.mu_bound, finding.mu_bound / finding.mu,
      &length == &later ? "mu .9 of what the filter can show" : "epsilon .9, mu .97 of the claim",
      meets_bars(finding, length));
}

std::string play_once(const std::filesystem::path& folder, const Row& row, const Length& length, double epsilon) {
  const std::string name = fmt::format("{}-{}{}.json", row.name, epsilon, &length == &later ? "-later" : "");
  return benchmarks::played_once(folder / name, [&] { return to_json(row, length, play(row, length, epsilon)); });
}

}  // namespace

int main(int argc, char** argv) {
  return benchmarks::play_rows(argc, argv, [](const auto& folder, const auto& is_wanted) {
    bool all_met = true;
    for (const Row& row : rows()) {
      if (!is_wanted(row.name)) continue;
      std::vector<std::string> played;
      for (const double epsilon : {0.5, 1.0, 2.0, 4.0}) played.push_back(play_once(folder, row, first, epsilon));
      played.push_back(play_once(folder, row, later, 1.0));
      for (const std::string& text : played) all_met = all_met && benchmarks::is_met(text);
    }
    return all_met;
  });
}
