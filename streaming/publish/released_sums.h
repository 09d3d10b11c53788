// The sums themselves in a release (release.moments): what subsets of features, ridge or another feature as the
// target are solved from, by whoever reads it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "nustream/moments/lane.h"

namespace nustream::publish {

/// ,"sums":{…} of a release that shows them, in working coordinates (docs/formats/releases.md).
void append_sums(const moments::Release& release, std::string& out);

/// The same as a reader of the release sees it.
struct ShownSums {
  moments::NormalEquations equations;  ///< about the last stage's centre
  double floor = 0;                    ///< λ: what solve() raises eigenvalues to
};
/// Of one encoded line; nothing where it shows no sums, or sums of which the sizes disagree or numbers are missing.
[[nodiscard]] std::optional<ShownSums> read_sums(std::string_view line);

}  // namespace nustream::publish
