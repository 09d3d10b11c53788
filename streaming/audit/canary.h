// The record that an audit looks for: the longest gradients that the settings let one record have.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "audit/shape.h"
#include "config/config.h"

namespace nustream::audit {

/// What a lane gets of a record.
struct Row {
  std::vector<double> x;
  double y;
  friend bool operator==(const Row&, const Row&) = default;
};

/// Lines of the stream's own format, without their newlines.
struct Canary {
  std::string header;  ///< of a CSV with one; else empty
  std::string null;    ///< cannot be used: takes its step with a zero gradient
  std::string record;  ///< at least one of its gradients is as long as its clip norm
  /// Stands in its place in the other world; of replace-one neighbours its gradients are opposite.
  std::string absent;
  Row row;                        ///< of `record`
  std::optional<Row> absent_row;  ///< of `absent`, where that can be used
};

/// Of the records that are tried, the one whose gradients stay longest in the steps that it takes part in, along the
/// path without noise; where all are some four clip norms long, no more records are tried. Failure(configuration)
/// where none has a gradient as long as its clip norm (columns clamped too tightly).
[[nodiscard]] Canary find_canary(const config::Config& config, const GameShape& shape);

}  // namespace nustream::audit
