// Measures how much of the claim an audit proves of models that are solved from running sums: plain ones, further
// stages, forgetting, sums for intervals, targets alone, instruments, and pairs of records in each other's place. The
// bar is .9 of the claimed ε for a record that comes first, at δ = 1e-2. Usage: audit_sums_bars FOLDER [ROW…]; RUNS
// in the environment for fewer games. Each row is a file of its own in FOLDER and is played once. Exits with 1 where
// a bar is missed or a claim is exceeded.
//
// Keys are the system's randomness: each of the bounds exceeds a true claim in one audit of a thousand.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "audit/audit.h"
#include "audit/played.h"
#include "audit_rows.h"
#include "config/mechanism.h"
#include "example_config.h"
#include "nustream/privacy/epsilon.h"
#include "temporary_folder.h"

namespace {

using namespace nustream;

constexpr double delta = 1e-2;
constexpr std::uint64_t steps = 4;

/// The settings of tests::moments_config() with two instruments of an endogenous regressor.
std::string instruments_config() {
  return tests::moments_config() + R"([[instruments]]
column = "z"
[[instruments]]
column = "u"
[[endogenous]]
column = "v"
)";
}

struct Row {
  const char* name;
  std::string (*config)();
  std::vector<std::string> settings;
  std::vector<double> epsilons{2};
};
const std::vector<Row>& rows() {
  static const std::vector<Row> all{
      {"sums", tests::moments_config, {}, {0.5, 1, 2, 4}},
      {"sums-replaced", tests::moments_config, {"privacy.adjacency=replace-one"}, {0.5, 1, 2, 4}},
      {"sums-in-stages",
       tests::moments_config,
       {"moments.stages=[{from=2000, residual_bound=1, row_norm=2}, {from=3000, residual_bound=0.5}]"}},
      {"sums-that-forget", tests::moments_config, {"moments.memory=10000"}},
      {"sums-with-residuals", tests::moments_config, {"intervals.kind=residuals"}},
      {"sums-with-sandwich", tests::moments_config, {"intervals.kind=sandwich"}},
      {"sums-of-targets", tests::moments_config, {"privacy.protects=target"}},
      {"sums-of-targets-replaced",
       tests::moments_config,
       {"privacy.protects=target", "privacy.adjacency=replace-one"}},
      {"sums-with-instruments", instruments_config, {"moments.regressor_bound=1.5"}}};
  return all;
}

config::Config read(const tests::TemporaryFolder& folder, const Row& row, double rho) {
  std::vector<std::string> overrides = row.settings;
  overrides.push_back(fmt::format("privacy.rho={:.17g}", rho));
  return config::read_config(folder.write("audited.toml", row.config()), overrides);
}

/// The ρ at which the running spend at the game's last step amounts to ε.
double rho_for(const tests::TemporaryFolder& folder, const Row& row, double epsilon) {
  const config::Config played = audit::with_steps_of(read(folder, row, 1), 1);
  const config::Mechanism mechanism = config::make_mechanism(played, privacy::Participation::once());
  return privacy::rho_for(Epsilon{epsilon}, Delta{delta}).value() / mechanism.spend.after(StepCount{steps}).value();
}

audit::Finding play(const Row& row, double epsilon) {
  const tests::TemporaryFolder folder;
  audit::Options options;
  options.steps = steps;
  options.delta = delta;
  options.runs = 1'000'000;
  if (const char* asked = std::getenv("RUNS")) options.runs = std::strtoull(asked, nullptr, 10);
  return audit::audit(read(folder, row, rho_for(folder, row, epsilon)), config::Purpose::stream, options);
}

std::string to_json(const Row& row, const audit::Finding& finding) {
  return fmt::format(
      "{{\"model\": \"{}\", \"steps\": {}, \"games_in_each_world\": {}, \"epsilon\": {:.6g}, \"epsilon_proven\": "
      "{:.6g}, \"epsilon_share\": {:.4f}, \"mu\": {:.6g}, \"mu_proven\": {:.6g}, \"mu_share\": {:.4f}, \"bar\": "
      "\"epsilon .9 of the claim\", \"met\": {}}}",
      row.name, finding.steps, finding.runs, finding.epsilon, finding.epsilon_bound,
      finding.epsilon_bound / finding.epsilon, finding.mu, finding.mu_bound, finding.mu_bound / finding.mu,
      !finding.exceeded() && finding.epsilon_bound >= 0.9 * finding.epsilon);
}

}  // namespace

int main(int argc, char** argv) {
  return benchmarks::play_rows(argc, argv, [](const auto& folder, const auto& is_wanted) {
    bool all_met = true;
    for (const Row& row : rows()) {
      if (!is_wanted(row.name)) continue;
      for (const double epsilon : row.epsilons) {
        const std::filesystem::path file = folder / fmt::format("{}-{}.json", row.name, epsilon);
        const std::string played = benchmarks::played_once(file, [&] { return to_json(row, play(row, epsilon)); });
        all_met = benchmarks::is_met(played) && all_met;
      }
    }
    return all_met;
  });
}
