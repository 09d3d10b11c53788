// What a plan says about a correlation that was fitted to an objective.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "publish/json_writer.h"

namespace nustream::cli {

/// The loss of a fitted correlation beside the losses of others. Each loss includes the correlation's own γ², so all
/// losses compare at one ρ.
struct FitReport {
  std::string objective;       ///< what was minimised, in words
  double seconds = 0;          ///< how long the fit took
  std::optional<double> loss;  ///< loss of the fit; empty where it is not known
  /// A bound that no correlation's loss is below; empty where none is known.
  std::optional<double> least;
  std::vector<std::pair<std::string, double>> others;  ///< what would be used without a fit, by name
};

/// Makes the report; takes O(T² bands) time for dense correlations.
[[nodiscard]] FitReport fit_report(const noise::Correlation& correlation, const config::Fit& fit);

void print(const FitReport& report);
/// Writes "fit":{…}.
void append_json(const FitReport& report, publish::JsonWriter& json);

}  // namespace nustream::cli
