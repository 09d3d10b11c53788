// What `nustream plan` says about the ways to estimate a linear model, from public guesses: the expected error of
// each under its own best settings, which of them has the least, and the expected error under the settings of the
// file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/estimator_choice.h"
#include "config/mechanism.h"
#include "publish/json_writer.h"

namespace nustream::cli {

struct EstimatorComparison {
  config::EstimatorChoice best;
  std::optional<inference::ExpectedError> last{};     ///< of the last iterate, under the settings of the file
  std::optional<inference::ExpectedError> average{};  ///< of the average, where one is released
  std::optional<inference::ExpectedError> sums{};     ///< of running sums
  bool diverges = false;                              ///< no error can be expected of the file's steps; diverges()
  bool of_table = false;                              ///< of a whole table, not of a stream
  std::string chosen;                                 ///< what model.estimator = "auto" chose
};

/// Compares the estimators. Returns nothing where [plan] lacks the guesses (config::has_guesses()).
[[nodiscard]] std::optional<EstimatorComparison> compare_estimators(const config::Config& config,
                                                                    const config::Mechanism& mechanism);

/// The same for a whole table of `records` rows. The file's own settings are not among them: what is expected of a
/// descent is told by its numbers of steps (table_prediction.h).
[[nodiscard]] std::optional<EstimatorComparison> compare_table_estimators(config::Config config,
                                                                          std::uint64_t records);

void print(const EstimatorComparison& comparison);
/// Writes "expected":{…}.
void append_json(const EstimatorComparison& comparison, publish::JsonWriter& json);

}  // namespace nustream::cli
