#include "cdp_noise.h"

#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace nustream::benchmarks {
namespace {

constexpr double first_etas[] = {0.01, 0.1, 0.5};

}  // namespace

Figure coefficients_figure(const FigureArguments&) {
  std::vector<Series> all;
  for (const double eta : first_etas) {
    const std::vector<double> beta = noise::noise_coefficients(nu_ftrl(eta), 201);
    Series found{fmt::format("eta = {}", eta), {}};
    Series order{fmt::format("order, eta = {}", eta), {}, false, true};
    for (const std::size_t t : {1U, 2U, 3U, 5U, 8U, 13U, 21U, 34U, 55U, 89U, 144U, 200U}) {
      if (-beta[t] < 1e-8) break;  // what lies further down would flatten all others
      const auto x = static_cast<double>(t);
      found.points.push_back({x, -beta[t]});
      order.points.push_back({x, std::pow(1 - eta, x) * std::pow(x, -1.5) / (2 * std::sqrt(std::numbers::pi))});
    }
    all.push_back(std::move(found));
    all.push_back(std::move(order));
  }
  return {fmt::format("{{\"figure\": \"figure 1: coefficients\", \"source\": \"CDP+\", \"columns\": [\"t\", "
                      "\"minus beta\", \"standard_error\"],\n  \"series\": {}}}\n",
                      series_json(all)),
          line_chart("Coefficients of nu = eta for the mean, with their sign turned", {"t", true},
                     {"minus beta", true}, all)};
}

Figure spectrum_figure(const FigureArguments&) {
  std::vector<Series> all;
  for (const double eta : first_etas) {
    const std::vector<double> beta = noise::noise_coefficients(nu_ftrl(eta), 4000);
    Series summed{fmt::format("eta = {}", eta), {}, true};
    Series formula{fmt::format("formula, eta = {}", eta), {}, false, true};
    for (int i = 0; i <= 60; ++i) {
      const double omega = std::numbers::pi * i / 60;
      formula.points.push_back({omega, std::abs(1 - eta - std::polar(1.0, omega))});
      if (i % 5 != 0) continue;
      std::complex<double> sum = 0;
      for (std::size_t t = 0; t < beta.size(); ++t) sum += beta[t] * std::polar(1.0, omega * static_cast<double>(t));
      summed.points.push_back({omega, std::norm(sum)});
    }
    all.push_back(std::move(formula));
    all.push_back(std::move(summed));
  }
  return {fmt::format("{{\"figure\": \"figure 1: spectrum\", \"source\": \"CDP+\", \"columns\": [\"omega\", "
                      "\"squared size of B\", \"standard_error\"],\n  \"series\": {}}}\n",
                      series_json(all)),
          line_chart("Spectrum of the noise of nu = eta for the mean", {"omega"}, {"squared size of B"}, all)};
}

}  // namespace nustream::benchmarks
