// The sums themselves in a release (release.moments): what subsets of features, ridge or another feature as the
// target are solved from, by whoever reads it.
#pragma once

#include <string>

#include "nustream/moments/lane.h"

namespace nustream::publish {

/// ,"sums":{…} of a release that shows them, in working coordinates (docs/formats/releases.md).
void append_sums(const moments::Release& release, std::string& out);

}  // namespace nustream::publish
