// Shows the sums themselves in a release (release.moments). From them any reader can solve for subsets of features,
// with ridge, or with another feature as the target.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "nustream/moments/gap_noise.h"
#include "nustream/moments/normal_equations.h"
#include "publish/json_writer.h"

namespace nustream::publish {

/// The sums as a reader of the release sees them.
struct ShownSums {
  moments::NormalEquations equations;  ///< about the last stage's centre
  double floor = 0;                    ///< λ: solve() raises eigenvalues to it
  /// How far noise may have moved what is solved from the sums of a linear model. Empty in older lines.
  std::optional<moments::GapNoise> noise{};
};
/// Writes "sums":{…} of a release that shows them, in working coordinates (docs/formats/releases.md).
void append_sums(const ShownSums& shown, JsonWriter& json);
/// Reads the sums of one encoded line. Empty where it shows none, where their sizes disagree, or where numbers are
/// missing.
[[nodiscard]] std::optional<ShownSums> read_sums(std::string_view line);

}  // namespace nustream::publish
