// Measures what fitted correlations gain, and how long the fits take. For prefix sums it shows the loss (γ² times
// squared error) at T = 100, 1,000 and 10,000, beside exact ν = 0, independent noise and the bound that no
// correlation passes. For descent it shows how far the bound of CDP+ Theorem 3.1 is below that of ν = ημ (Figure 3).
// Usage: optimised_correlations [JSON file]. Exits with 1 where a margin of Figure 3 is missed.
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>

#include <fmt/format.h>

#include "nustream/base/error.h"
#include "nustream/privacy/optimised.h"
#include "nustream/privacy/optimised_descent.h"

namespace {

using namespace nustream;
using namespace nustream::privacy;
using noise::Correlation;

struct Timed {
  Correlation correlation;
  double seconds;
};

Timed timed(const std::function<Correlation()>& fit) {
  const auto start = std::chrono::steady_clock::now();
  Correlation correlation = fit();
  return {std::move(correlation), std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
}

std::string fitted_row(const std::string& family, const PrefixSums& problem,
                       const std::function<Correlation()>& fit) {
  const Timed result = timed(fit);
  return fmt::format("{{\"family\": \"{}\", \"loss\": {:.9g}, \"seconds\": {:.3f}}}", family,
                     prefix_sum_loss(result.correlation, problem), result.seconds);
}

std::string prefix_sum_rows(const PrefixSums& problem) {
  const std::uint64_t steps = problem.horizon.value();
  const bool mean = problem.error == PrefixError::mean;
  std::string rows = fmt::format(
      "{{\"steps\": {}, \"error\": \"{}\", \"least\": {:.9g}, \"nu_0\": {:.9g}, \"independent\": {:.9g}, \"fits\": [",
      steps, mean ? "mean" : "max", prefix_sum_loss_bound(problem),
      prefix_sum_loss(Correlation{noise::NuFtrl{Damping{0}, problem.horizon}}, problem),
      prefix_sum_loss(Correlation{noise::Independent{}}, problem));
  rows += fitted_row("toeplitz", problem, [&] { return optimised_toeplitz(problem); });
  rows += ",\n    " + fitted_row("toeplitz, 64 bands", problem, [&] { return optimised_toeplitz(problem, 64); });
  rows += ",\n    " + fitted_row("rational, 5 poles", problem, [&] { return optimised_rational(problem, 5); });
  if (steps <= 1000) rows += ",\n    " + fitted_row("dense", problem, [&] { return optimised_dense(problem); });
  if (steps <= 1000 && mean) {
    rows += ",\n    " + fitted_row("dense, 32 bands", problem, [&] { return optimised_dense(problem, 32); });
  }
  return rows + "]}";
}

struct Margin {
  double condition, percent, tolerance;
};
constexpr std::array<Margin, 4> margins = {{{10, 3, 0.5}, {30, 6, 0.5}, {100, 12, 1.5}, {300, 18, 1.5}}};

std::string margin_row(const Margin& margin, bool& all) {
  const StronglyConvex problem{StepSize{0.5}, 1 / margin.condition, 1};
  const double nu = descent_bound(Correlation{noise::NuFtrl{Damping{0.5 / margin.condition}, {}}}, problem);
  const Timed window = timed([&] { return optimised_window(problem); });
  const Timed rational = timed([&] { return optimised_rational(problem, 4); });
  const auto below = [&](const Correlation& of) { return 100 * (1 - descent_bound(of, problem) / nu); };
  const double percent = below(window.correlation);
  all = all && std::abs(percent - margin.percent) <= margin.tolerance;
  return fmt::format(
      "{{\"condition\": {}, \"percent_below_nu\": {:.3f}, \"paper\": {}, \"terms\": {}, \"seconds\": {:.2f}, "
      "\"percent_with_4_poles\": {:.3f}, \"seconds_with_4_poles\": {:.2f}}}",
      margin.condition, percent, margin.percent, std::get<noise::Windowed>(window.correlation.family()).beta.size(),
      window.seconds, below(rational.correlation), rational.seconds);
}

}  // namespace

int main(int argc, char** argv) {
  std::string json = "{\"figure\": \"optimised correlations\", \"prefix_sums\": [";
  const char* between = "\n  ";
  for (const PrefixError error : {PrefixError::largest, PrefixError::mean}) {
    for (const std::uint64_t steps : {100U, 1000U, 10'000U}) {
      json += between + prefix_sum_rows({StepCount{steps}, Participation::once(), error});
      between = ",\n  ";
    }
  }
  json += "],\n \"theorem_3_1\": [";
  bool all = true;
  between = "\n  ";
  for (const Margin& margin : margins) {
    json += between + margin_row(margin, all);
    between = ",\n  ";
  }
  json += "]}\n";
  std::FILE* out = argc > 1 ? std::fopen(argv[1], "w") : stdout;
  if (out == nullptr) return 74;
  fmt::print(out, "{}", json);
  return all ? 0 : 1;
}
