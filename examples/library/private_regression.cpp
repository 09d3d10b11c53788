// Fits a private line through a table, with confidence intervals and without any guess: the ranges are measured
// privately.
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "nustream/inference/interval.h"
#include "nustream/noise/source.h"
#include "nustream/ranges/linear_fit.h"
#include "nustream/ranges/noise_draws.h"

using namespace nustream;

int main() {
  // The program need not know anything about this table: y = 3 − 2x with an error of standard deviation 1.
  std::mt19937_64 random(1);
  const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  const auto normal = [&] {
    return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(6.283185307179586 * uniform());
  };
  std::vector<double> x;
  std::vector<double> y;
  for (int i = 0; i < 50'000; ++i) {
    x.push_back(10 + 5 * normal());
    y.push_back(3 - 2 * x.back() + normal());
  }

  const noise::KeyBytes key{7};  // a real program takes 32 bytes from getrandom, and wipes them
  const ranges::DrawNoise draw = ranges::keyed_noise(key, LaneId{0}, EpochId{0});
  const ranges::TableFit fit = ranges::fit_linear({.features = 1, .x = x, .y = y}, {.rho = Rho{0.5}}, draw);
  if (fit.is_stopped || fit.variances.empty()) {
    std::printf("noise hides the answer: take more records, or a larger rho\n");
    return 1;
  }

  const char* const names[] = {"intercept", "slope"};
  for (std::size_t j = 0; j < fit.theta.size(); ++j) {
    const inference::EstimatedVariance& estimated = fit.variances[j];
    const double half =
        inference::student_quantile(estimated.degrees_of_freedom, 0.95) * std::sqrt(estimated.variance);
    std::printf("%-9s %.6f  from %.6f to %.6f\n", names[j], fit.theta[j], fit.theta[j] - half, fit.theta[j] + half);
  }
}
