// How much of the claim an audit proves, for each correlation at ε = .5, 1, 2, 4 and δ = 1e-2: the bars are .9 of ε
// and .97 of μ. Usage: audit_bars FOLDER [CORRELATION…]; RUNS in the environment for fewer games. Each row is a file
// of its own in FOLDER, and one that is there is not played again. Exits with 1 where a bar is missed, or a claim is
// exceeded.
//
// Keys are the system's randomness: each of the bounds exceeds a true claim in one audit of a thousand.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "audit/audit.h"
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
};

constexpr std::uint64_t steps = 4;
constexpr double delta = 1e-2;

const std::vector<Row>& rows() {
  static const std::vector<Row> all{{"independent", {"noise.correlation=independent"}},
                                    {"nu", {"noise.correlation=nu", "noise.nu=0.01", "noise.horizon=4"}},
                                    {"rational", {"noise.nu=0.01"}},
                                    {"windowed", {"noise.correlation=windowed", "noise.nu=0.01", "noise.window=3"}},
                                    {"tree", {"noise.correlation=tree", "noise.height=2"}},
                                    {"two-passes", {"noise.nu=0.01"}, 2}};
  return all;
}

config::Config read(const tests::TemporaryFolder& folder, const Row& row, double rho) {
  std::vector<std::string> overrides = row.settings;
  overrides.push_back(fmt::format("privacy.rho={:.17g}", rho));
  return config::read_config(folder.write("audited.toml", tests::example_config()), overrides);
}

/// ρ for which the running spend at the game's last step comes to ε.
double rho_for(const tests::TemporaryFolder& folder, const Row& row, double epsilon) {
  const config::Config config = read(folder, row, 1);
  const privacy::Participation participation =
      row.passes == 1 ? privacy::Participation::once() : privacy::Participation{row.passes, steps / row.passes};
  const double spent = config::make_mechanism(config, participation).spend.after(StepCount{steps}).value();
  return privacy::rho_for(Epsilon{epsilon}, Delta{delta}).value() / spent;
}

audit::Finding play(const Row& row, double epsilon) {
  const tests::TemporaryFolder folder;
  audit::Options options;
  options.steps = steps;
  options.passes = row.passes;
  options.delta = delta;
  if (const char* asked = std::getenv("RUNS")) options.runs = std::strtoull(asked, nullptr, 10);
  return audit::audit(read(folder, row, rho_for(folder, row, epsilon)), config::Purpose::stream, options);
}

std::string to_json(const Row& row, const audit::Finding& finding) {
  return fmt::format(
      "{{\"correlation\": \"{}\", \"steps\": {}, \"games_in_each_world\": {}, \"epsilon\": {:.6g}, "
      "\"epsilon_proven\": "
      "{:.6g}, \"epsilon_share\": {:.4f}, \"mu\": {:.6g}, \"mu_proven\": {:.6g}, \"mu_share\": {:.4f}}}",
      row.name, finding.steps, finding.runs, finding.epsilon, finding.epsilon_bound,
      finding.epsilon_bound / finding.epsilon, finding.mu, finding.mu_bound, finding.mu_bound / finding.mu);
}

bool meets_bars(const audit::Finding& finding) {
  return finding.holds() && finding.epsilon_bound >= 0.9 * finding.epsilon && finding.mu_bound >= 0.97 * finding.mu;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 64;
  const std::filesystem::path folder = argv[1];
  const std::vector<std::string> wanted(argv + 2, argv + argc);
  std::filesystem::create_directories(folder);
  bool all_met = true;
  for (const Row& row : rows()) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), row.name) == wanted.end()) continue;
    for (const double epsilon : {0.5, 1.0, 2.0, 4.0}) {
      const std::filesystem::path file = folder / fmt::format("{}-{}.json", row.name, epsilon);
      if (std::filesystem::exists(file)) continue;
      const audit::Finding finding = play(row, epsilon);
      const bool met = meets_bars(finding);
      all_met = all_met && met;
      fmt::print("{}{}\n", to_json(row, finding), met ? "" : "  <- misses a bar");
      if (met) std::ofstream(file) << to_json(row, finding) << '\n';
    }
  }
  return all_met ? 0 : 1;
}
