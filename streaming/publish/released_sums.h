// The sums themselves in a release (release.moments): what subsets of features, ridge or another feature as the
// target are solved from, by whoever reads it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "nustream/moments/gap_noise.h"
#include "nustream/moments/normal_equations.h"

namespace nustream::publish {

/// The sums as a reader of the release sees them.
struct ShownSums {
  moments::NormalEquations equations;  ///< about the last stage's centre
  double floor = 0;                    ///< λ: what solve() raises eigenvalues to
  /// Of the sums of a linear model: how far noise may have moved what is solved from them. Nothing in older lines.
  std::optional<moments::GapNoise> noise{};
};
/// ,"sums":{…} of a release that shows them, in working coordinates (docs/formats/releases.md).
void append_sums(const ShownSums& shown, std::string& out);
/// Of one encoded line; nothing where it shows no sums, or sums of which the sizes disagree or numbers are missing.
[[nodiscard]] std::optional<ShownSums> read_sums(std::string_view line);

}  // namespace nustream::publish
