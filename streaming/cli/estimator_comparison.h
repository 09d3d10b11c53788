// What `nustream plan` says of the ways to estimate a linear model, from public guesses: what is expected of each
// with the settings that are best for it, which is the least, and what is expected of the settings as they are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/estimator_choice.h"
#include "config/mechanism.h"

namespace nustream::cli {

struct EstimatorComparison {
  config::EstimatorChoice best;
  std::optional<inference::ExpectedError> last{};     ///< of the settings as they are, of a descent
  std::optional<inference::ExpectedError> average{};  ///< of a descent that releases one
  std::optional<inference::ExpectedError> sums{};     ///< of running sums
  std::string chosen;                                 ///< of model.estimator = "auto"
};

/// Empty where [plan] does not hold the guesses (config::has_guesses()).
[[nodiscard]] std::optional<EstimatorComparison> compare_estimators(const config::Config& config,
                                                                    const config::Mechanism& mechanism);

void print(const EstimatorComparison& comparison);
/// ,"expected":{…}
void append_json(const EstimatorComparison& comparison, std::string& out);

}  // namespace nustream::cli
