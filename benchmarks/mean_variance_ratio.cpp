// Measures the stationary variance of a private mean, with ν = η against independent noise, on a bounded stream, and
// compares it with η(2−η)((2/π)K(1−η))² (CDP+ Theorem 2.1). Usage: mean_variance_ratio [STEPS [JSON file]]; 2,000,000
// steps by default. Exits with 1 where a ratio is more than 3 standard errors off. Keys are fixed, so the result does
// not vary by chance.

#include <cmath>
#include <cstdlib>
#include <memory>
#include <random>

#include <fmt/format.h>

#include "nustream/noise/elliptic.h"
#include "private_path.h"

namespace {

using namespace nustream;
using namespace nustream::benchmarks;

constexpr std::size_t dimension = 16;  // independent coordinates, so as many chains as parameters
constexpr double rho = 0.5;

lane::Settings mean_settings(double eta) {
  lane::Settings settings = plain_descent(dimension, 1.0, eta);
  settings.loss.kind = model::Loss::Kind::mean;
  return settings;
}

/// The variance of θ_t − θ_t(noise off) over time and coordinates, after a burn-in. Its standard error comes from the
/// means of 32 stretches of the run.
Estimate stationary_variance(const noise::Correlation& correlation, double eta, std::size_t steps,
                             std::uint64_t run) {
  const lane::Settings settings = mean_settings(eta);
  const auto once = privacy::Participation::once();
  const NoiseStddev stddev = noise_stddev(
      privacy::multiplier_for(privacy::sensitivity_limit(correlation, once), Rho{rho}), Displacement{1.0});
  const noise::Grid grid(stddev, noise::largest_stddev(correlation), settings.clip);
  const noise::KeyBytes key = numbered_key(run);
  noise::NoiseSource source(correlation, noise::GeneratorKind::automatic, dimension,
                            noise::first_checkpoint(key, {LaneId{0}, EpochId{0}, 0}), StepIndex{0});
  lane::Lane lane(settings, grid, Position{0});
  lane::Lane silent(settings, grid, Position{0});  // the same stream without noise
  record::RowBatch rows;
  rows.dimension = dimension;
  std::mt19937_64 bits(run);
  std::uniform_real_distribution<double> entry(-0.25, 0.25);  // for a norm of at most 1, so that nothing is clipped
  std::vector<std::int64_t> units(noise::steps_per_block(dimension) * dimension);
  const std::vector<std::int64_t> no_noise(units.size(), 0);
  lane::Releases releases;
  lane::Releases without;
  const auto burn_in = static_cast<std::size_t>(50.0 / eta);
  constexpr std::size_t stretches = 32;
  std::vector<double> sums(stretches, 0.0);
  std::vector<double> counts(stretches, 0.0);
  for (std::size_t step = 0; step < steps + burn_in;) {
    const noise::CorrelatedBlock block = source.next();
    grid.round_noise(block.z, units);
    rows.clear();
    rows.x.resize(block.steps * dimension);
    for (double& x : rows.x) x = entry(bits);
    rows.y.assign(block.steps, 0.0);
    for (std::size_t i = 0; i < block.steps; ++i) rows.next.push_back(step + i + 1);
    releases.clear();
    lane.advance(record::slice(rows, 0, block.steps), {block.first, dimension, units}, releases);
    without.clear();
    silent.advance(record::slice(rows, 0, block.steps), {block.first, dimension, no_noise}, without);
    for (std::size_t i = 0; i < block.steps; ++i) {
      const std::size_t t = step + i;
      if (t < burn_in || t >= steps + burn_in) continue;
      const std::size_t stretch = (t - burn_in) * stretches / steps;
      for (std::size_t j = 0; j < dimension; ++j) {
        const double apart = releases[i].theta[j] - without[i].theta[j];
        sums[stretch] += apart * apart;
      }
      counts[stretch] += dimension;
    }
    step += block.steps;
  }
  for (std::size_t i = 0; i < stretches; ++i) sums[i] /= counts[i];
  return estimate(sums);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t steps = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2'000'000;
  std::string json = fmt::format("{{\"figure\": \"mean variance ratio\", \"steps\": {}, \"rows\": [", steps);
  bool first = true;
  bool all = true;
  for (const double eta : {0.5, 0.1, 0.02}) {
    const noise::Correlation nu{noise::Rational::nu_ftrl(Damping{eta})};
    const Estimate correlated = stationary_variance(nu, eta, steps, 1);
    const Estimate independent = stationary_variance(noise::Correlation{noise::Independent{}}, eta, steps, 2);
    const double ratio = correlated.mean / independent.mean;
    const double error = ratio * std::hypot(correlated.standard_error / correlated.mean,
                                            independent.standard_error / independent.mean);
    const double a = 1 - eta;
    const double gamma2 = 1 / noise::arithmetic_geometric_mean(1, std::sqrt((1 - a) * (1 + a)));
    const double theory = eta * (2 - eta) * gamma2 * gamma2;
    json += fmt::format(
        "{}\n  {{\"eta\": {}, \"ratio\": {:.6f}, \"standard_error\": {:.2g}, \"theory\": {:.8f}, \"z\": {:.2f}}}",
        first ? "" : ",", eta, ratio, error, theory, (ratio - theory) / error);
    first = false;
    all = all && std::abs(ratio - theory) <= 3 * error;
  }
  json += "]}\n";
  std::FILE* out = argc > 2 ? std::fopen(argv[2], "w") : stdout;
  if (out == nullptr) return 74;
  fmt::print(out, "{}", json);
  return all ? 0 : 1;
}
