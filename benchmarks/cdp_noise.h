// CDP+ figure 1, middle and right: the noise of ν-FTRL by itself.
#pragma once

#include <optional>

#include "figure.h"
#include "nustream/noise/correlation.h"

namespace nustream::benchmarks {

inline noise::Correlation nu_ftrl(double nu) {
  return noise::Correlation{noise::NuFtrl{Damping{nu}, std::nullopt}};
}

/// Figure 1, middle: how far the coefficients of ν = η are below 0, beside the order of equation (7), whose constant
/// is that of the central binomial coefficients, 1/(2√π).
[[nodiscard]] Figure coefficients_figure(const FigureArguments& arguments);

/// Figure 1, right: the spectrum of the same noise, summed up from its coefficients, on the line of its formula.
[[nodiscard]] Figure spectrum_figure(const FigureArguments& arguments);

}  // namespace nustream::benchmarks
