// Shows which correlation suits an average of iterates when its length is known, and when it is not. The figure is √ρ
// times the standard deviation that the privacy noise leaves in the mean of the first n iterates of a descent of one
// coordinate, with η = .01, λ = 1, Δ = 1. Usage: average_correlations [JSON file].
// - known: rational ν-FTRL with the best ν for that n, which has to be known beforehand
// - every: one ν for every length and a finite spend, as `plan` suggests it for streams without an end; 1e-6 beside
//   it
// - doubling: a fresh mechanism, with its own best ν, for the first 1,000 steps and for each doubling of all steps; a
//   record is in one of them, and their independent means are averaged by their lengths
// - last: the best ν for the last iterate, ν = ηλ
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "nustream/inference/average_noise.h"
#include "nustream/inference/average_plan.h"
#include "nustream/noise/rational.h"
#include "nustream/privacy/sensitivity.h"

namespace {

using namespace nustream;

constexpr double step_size = 0.01;
const privacy::LocalProblem problem{{1.0}, StepSize{step_size}, privacy::Curvature::fixed};
const auto once = privacy::Participation::once();

/// σ²Var at ρ = 1, which is γ²/2 times the variance for seed noise of variance 1.
double variance(double nu, std::uint64_t steps) {
  const noise::Correlation correlation{noise::Rational::nu_ftrl(Damping{nu})};
  const double gamma = privacy::sensitivity_limit(correlation, once).value();
  return gamma * gamma / 2 * inference::averaged_noise_variance(correlation, {step_size, 1, 0, steps});
}

double best_nu(std::uint64_t steps) {
  return inference::suggested_nu_of_average(problem, {0, steps}, once).value();
}

double doubling(std::uint64_t steps) {
  constexpr std::uint64_t first = 1000;
  double sum = std::pow(static_cast<double>(first), 2) * variance(best_nu(first), first);
  for (std::uint64_t length = first; length < steps; length *= 2) {
    sum += std::pow(static_cast<double>(length), 2) * variance(best_nu(length), length);
  }
  return sum / std::pow(static_cast<double>(steps), 2);
}

}  // namespace

int main(int argc, char** argv) {
  const double every = inference::suggested_nu_of_every_average(problem, 0, once).value();
  std::string text = fmt::format(
      "{{\"figure\": \"root of rho times the noise in the mean of the first n iterates\", \"step_size\": {}, "
      "\"nu_of_every_length\": {:.3g}, \"rows\": [",
      step_size, every);
  const char* separator = "";
  for (const unsigned doublings : {3U, 7U, 10U, 13U, 17U, 20U}) {
    const std::uint64_t steps = 1000ULL << doublings;
    const double nu = best_nu(steps);
    text += fmt::format(
        "{}\n  {{\"steps\": {}, \"best_nu\": {:.3g}, \"known\": {:.4g}, \"every\": {:.4g}, \"at_1e-6\": {:.4g}, "
        "\"doubling\": {:.4g}, \"last\": {:.4g}}}",
        separator, steps, nu, std::sqrt(variance(nu, steps)), std::sqrt(variance(every, steps)),
        std::sqrt(variance(1e-6, steps)), std::sqrt(doubling(steps)), std::sqrt(variance(step_size, steps)));
    separator = ",";
  }
  std::FILE* out = argc > 1 ? std::fopen(argv[1], "w") : stdout;
  if (out == nullptr) return 74;
  fmt::print(out, "{}]}}\n", text);
  return 0;
}
