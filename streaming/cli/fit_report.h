// What a plan says of a correlation that was fitted to an objective.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"

namespace nustream::cli {

/// Losses carry each correlation's own γ², so they compare at one ρ.
struct FitReport {
  std::string objective;                               ///< in words
  double seconds = 0;                                  ///< that the fit took
  std::optional<double> loss;                          ///< of the fit; empty where it is not known
  std::optional<double> least;                         ///< of any correlation; empty where no bound is known
  std::vector<std::pair<std::string, double>> others;  ///< of what one would use without a fit
};

/// O(T² bands) for dense correlations.
[[nodiscard]] FitReport fit_report(const noise::Correlation& correlation, const config::Fit& fit);

void print(const FitReport& report);
/// Appends ",\"fit\":{…}".
void append_json(const FitReport& report, std::string& out);

}  // namespace nustream::cli
