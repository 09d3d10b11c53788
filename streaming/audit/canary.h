// The record that an audit looks for: the longest gradients that the settings let one record have.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "audit/shape.h"
#include "config/mechanism.h"

namespace nustream::audit {

/// What a lane gets of a record.
struct Row {
  std::vector<double> x;
  double y;           ///< NaN where it cannot be read beside public features
  double weight = 1;  ///< how much the record counts
};

/// What stands in the canary's place in the world without it.
enum class Absent : std::uint8_t {
  neighbour,  ///< of replace-one neighbours a record that is as far from it as they can be, else nothing
  nothing,    ///< a record that cannot be used: of replace-one neighbours the other half
};

/// Of a stage's claimed displacement, how far the two worlds can be apart: of replace-one neighbours of which one has
/// nothing, half of it, and of a count all; of running sums one radius.
[[nodiscard]] double part_of_displacement(const config::Config& config, const config::StageNoise& stage,
                                          Absent absent);
/// The same of ρ of all stages together.
[[nodiscard]] double part_of_rho(const config::Config& config, const config::Mechanism& mechanism, Absent absent);

/// Lines of the stream's own format, without their newlines.
struct Canary {
  std::string header;  ///< of a CSV with one; else empty
  /// Cannot be used: takes its step with a zero gradient. Where features are public it has those of the canary, which
  /// move a first stage without noise.
  std::string null;
  std::string record;  ///< at least one of its gradients is as long as its clip norm
  std::string absent;  ///< in its place in the other world; opposite, if it can be used, its descents' gradients are
  Row row;             ///< of `record`
  Row absent_row;
  bool opposite;  ///< `absent` can be used
};

/// Of the records that are tried, the one (of replace-one neighbours in running sums the pair) that shows most of
/// what is claimed in the steps that it takes part in, along the path without noise; where all its gradients are some
/// four clip norms long, no more are tried. Failure(configuration) where none has a gradient as long as its clip norm
/// (columns clamped too tightly).
[[nodiscard]] Canary find_canary(const config::Config& config, const config::Mechanism& mechanism,
                                 const GameShape& shape, Absent absent);

}  // namespace nustream::audit
